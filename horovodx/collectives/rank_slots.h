// RankSlots: everybody's contribution side by side, added up in rank order.
//
// The order of summation is then 0, 1, ..., n-1 for every element, whatever arrived first and
// however tensors were merged or cut: the base of repeatable results.
//
// Thread: one at a time. Owns its memory: n-1 contributions of at most SlotBytes(n), so about
// 1 MiB, or 8 MiB where longer segments are asked for.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

#include "horovodx/collectives/buffer.h"
#include "horovodx/collectives/exchange.h"
#include "kernels/types.h"

namespace horovodx::collectives {

// A power of two, so that it holds a whole number of elements of any type. `segment`: as long as
// this, if memory allows (segment.h); 0: no wish.
constexpr std::size_t SlotBytes(int ranks, std::size_t segment = 0) {
  const auto n = static_cast<std::size_t>(ranks);
  const std::size_t even =
      segment == 0 ? (std::size_t{1} << 20) / n : std::min(segment, (std::size_t{8} << 20) / n);
  return std::max<std::size_t>(std::bit_floor(even), 4 << 10);
}

class RankSlots {
 public:
  RankSlots(int ranks, int rank) : rank_(rank), slots_(static_cast<std::size_t>(ranks)) {}

  // Where the contribution of `from` (not me) is to be received.
  MutableBuffer Get(int from, ElementType type, std::size_t count) {
    return slots_[static_cast<std::size_t>(from)].Get(type, count);
  }
  // own = op(slot 0, ..., own in my rank's place, ..., slot n-1).
  void ReduceInto(const MutableBuffer& own, ReduceOp op);

 private:
  int rank_;
  std::vector<Scratch> slots_;  // mine stays empty
};

}  // namespace horovodx::collectives

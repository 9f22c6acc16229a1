// All-to-all allreduce: afterwards every rank holds op over all, added up in rank order.
//
// Every rank is responsible for one chunk: everybody sends it theirs, it adds them up in rank
// order, and sends the result to everybody. Streamed in windows of about 1 MiB. Per rank and
// window: 2(n-1) messages; in all 2 * bytes * (n-1)/n sent, like a ring, but nobody waits for a
// neighbour's neighbour: two rounds of messages. Needs a link between any two ranks.
//
// The order of summation depends on nothing but the ranks, not on the count, nor on how tensors
// were merged: this is the algorithm of repeatable results, and its bits are those of
// allreduce_round_robin.
//
// Partial sums: in scratch (about 1 MiB, whatever the count). Only finished sums are written to the
// buffer.
//
// Thread: the caller's; blocks until done. `buffer` is borrowed for the call.
#pragma once

#include <cstddef>

#include "horovodx/base/status.h"
#include "horovodx/collectives/buffer.h"
#include "horovodx/collectives/cost.h"
#include "horovodx/collectives/rank_slots.h"
#include "horovodx/collectives/team.h"
#include "kernels/types.h"

namespace horovodx::collectives {

[[nodiscard]] Status AllreduceAllToAll(Team& team, const MutableBuffer& buffer, ReduceOp op);

constexpr Cost CostOfAllToAll(int ranks, std::size_t bytes) {
  if (ranks == 1) return {};
  const std::uint64_t windows = CountOf(bytes, SlotBytes(ranks) * static_cast<std::size_t>(ranks));
  const std::uint64_t messages = 2 * static_cast<std::uint64_t>(ranks - 1) * windows;
  const double sent = 2 * Share(bytes, ranks - 1, ranks);
  return {2 * windows, sent, messages, sent};
}

}  // namespace horovodx::collectives

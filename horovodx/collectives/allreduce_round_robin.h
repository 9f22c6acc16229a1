// Round-robin allreduce: afterwards every rank holds op over all, added up in rank order.
//
// In n-1 rounds everybody meets everybody: in each, everybody sends its whole input to another and
// receives a whole input from a third; then all add up everything in rank order. n-1 messages (a
// window of 1 MiB / n) and bytes * (n-1) sent per rank. No message waits for another, so for a few
// ranks and tiny buffers it is as quick as can be; above that, for reference and teaching.
//
// The order of summation depends on nothing but the ranks; its bits are those of
// allreduce_all_to_all.
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

[[nodiscard]] Status AllreduceRoundRobin(Team& team, const MutableBuffer& buffer, ReduceOp op);

constexpr Cost CostOfRoundRobin(int ranks, std::size_t bytes) {
  if (ranks == 1) return {};
  const std::uint64_t windows = CountOf(bytes, SlotBytes(ranks));
  const auto others = static_cast<std::uint64_t>(ranks - 1);
  const double sent = static_cast<double>(bytes) * static_cast<double>(others);
  return {windows, sent, others * windows, sent};
}

}  // namespace horovodx::collectives

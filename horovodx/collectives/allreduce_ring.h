// Ring allreduce: afterwards every rank holds op(x_0, ..., x_{n-1}).
//
// The buffer is streamed in windows of n segments (256 KiB), each cut into n chunks. For n-1 steps
// each chunk travels round gathering sums, for n-1 more the finished chunks travel round again. Per
// rank and window: 2(n-1) messages; in all 2 * bytes * (n-1)/n sent, the least possible, so it pays
// for large buffers. Any count works, also 0 or fewer elements than ranks.
//
// Partial sums: in scratch (two segments, whatever the count). Only finished sums are written to
// the buffer, so as long as any rank has not contributed, nobody's buffer has changed.
//
// Thread: the caller's; blocks until done. `buffer` is borrowed for the call.
#pragma once

#include <cstddef>

#include "horovodx/base/status.h"
#include "horovodx/collectives/buffer.h"
#include "horovodx/collectives/cost.h"
#include "horovodx/collectives/ring_passes.h"
#include "horovodx/collectives/team.h"
#include "kernels/types.h"

namespace horovodx::collectives {

// The longest message, if no other segment is asked for; small enough for a chunk and its sum to
// stay in a core's cache.
inline constexpr std::size_t kRingChunkBytes = 256 << 10;

[[nodiscard]] Status AllreduceRing(Team& team, const MutableBuffer& buffer, ReduceOp op);

constexpr Cost CostOfRing(int ranks, std::size_t bytes) {
  if (ranks == 1) return {};
  const std::uint64_t windows = CountOf(bytes, kRingChunkBytes * static_cast<std::size_t>(ranks));
  Cost cost = CostOfRingPass(ranks, bytes) + CostOfRingPass(ranks, bytes);
  cost.steps *= windows;
  cost.messages *= windows;
  return cost;
}

}  // namespace horovodx::collectives

// Recursive doubling allreduce, for any number of ranks: afterwards every rank holds op over all.
//
// On a hypercube of p = the largest power of two <= n ranks: log2 p times everybody swaps
// everything with the neighbour in the next dimension and adds it up. The n - p ranks left over
// give their input to a corner before and get the result after. A corner sends log2 p messages of
// all bytes; one with a guest sends the whole once more. The fewest steps there are: pays for small
// buffers. Messages are at most 1 MiB long.
//
// Both sides of a swap compute the same expression, the lower rank's value first, so all ranks end
// with the same bits.
//
// Partial sums: in the buffer. Scratch: at most 1 MiB.
//
// Thread: the caller's; blocks until done. `buffer` is borrowed for the call.
#pragma once

#include <cstddef>

#include "horovodx/base/status.h"
#include "horovodx/collectives/buffer.h"
#include "horovodx/collectives/cost.h"
#include "horovodx/collectives/exchange.h"
#include "horovodx/collectives/patterns/hypercube.h"
#include "horovodx/collectives/team.h"
#include "kernels/types.h"

namespace horovodx::collectives {

[[nodiscard]] Status AllreduceRecursiveDoubling(Team& team, const MutableBuffer& buffer,
                                                ReduceOp op);

constexpr Cost CostOfRecursiveDoubling(int ranks, std::size_t bytes) {
  const auto dimensions = static_cast<std::uint64_t>(HypercubePattern::Dimensions(ranks));
  const std::uint64_t messages = CountOf(bytes, kMessageBytes);
  const double all = static_cast<double>(bytes);
  const double sent = all * static_cast<double>(dimensions);
  const Cost cost{dimensions * messages, sent, dimensions * messages, sent};
  if (HypercubePattern::Corners(ranks) == ranks) return cost;
  return cost + Cost{messages + 1, 2 * all, 1, all};
}

}  // namespace horovodx::collectives

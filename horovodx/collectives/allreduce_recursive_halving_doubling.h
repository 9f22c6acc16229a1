// Recursive halving and doubling ("butterfly") allreduce, for any number of ranks: afterwards every
// rank holds op over all.
//
// On a hypercube of p = the largest power of two <= n ranks. log2 p times: swap halves of what I am
// responsible for with the neighbour in the next dimension and add up the half I keep; then
// backwards, swapping finished halves. The n - p ranks left over give their input to a corner
// before and get the result after. A corner sends 2 log2 p messages and 2 * bytes * (p-1)/p; one
// with a guest sends the whole once more. As few bytes as a ring in far fewer steps, but in ever
// changing pairs: pays for middle sizes. What is added up travels in messages of at most 1 MiB.
//
// Partial sums: in the buffer. Scratch: at most 1 MiB.
//
// Thread: the caller's; blocks until done. `buffer` is borrowed for the call.
#pragma once

#include <algorithm>
#include <cstddef>

#include "horovodx/base/status.h"
#include "horovodx/collectives/buffer.h"
#include "horovodx/collectives/cost.h"
#include "horovodx/collectives/exchange.h"
#include "horovodx/collectives/patterns/hypercube.h"
#include "horovodx/collectives/team.h"
#include "kernels/types.h"

namespace horovodx::collectives {

[[nodiscard]] Status AllreduceRecursiveHalvingDoubling(Team& team, const MutableBuffer& buffer,
                                                       ReduceOp op);

constexpr Cost CostOfRecursiveHalvingDoubling(int ranks, std::size_t bytes) {
  Cost cost;
  std::size_t half = bytes / 2;
  for (int d = 0; d < HypercubePattern::Dimensions(ranks); ++d, half /= 2) {
    const std::uint64_t messages = CountOf(half, kMessageBytes) + 1;  // one to gather
    const double sent = 2.0 * static_cast<double>(half);
    cost = cost + Cost{messages, sent, messages, sent};
  }
  if (HypercubePattern::Corners(ranks) == ranks) return cost;
  const double all = static_cast<double>(bytes);
  const std::uint64_t up = CountOf(bytes, kMessageBytes);
  cost = cost + Cost{up + 1, 2 * all, 1, all};
  cost.messages = std::max(cost.messages, up);  // a guest's
  return cost;
}

}  // namespace horovodx::collectives

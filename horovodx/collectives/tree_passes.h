// The two passes of a tree: sums travel up to rank 0, the result travels down from it.
//
// Thread: the team's; blocks until done. Buffers are borrowed for the call.
#pragma once

#include <cstddef>

#include "horovodx/base/status.h"
#include "horovodx/collectives/buffer.h"
#include "horovodx/collectives/cost.h"
#include "horovodx/collectives/exchange.h"
#include "horovodx/collectives/patterns/tree.h"
#include "horovodx/collectives/team.h"
#include "kernels/types.h"

namespace horovodx::collectives {

// Afterwards rank 0's buffer holds op over all; the others' hold partial sums. Everybody but rank 0
// sends everything once, in messages of at most 1 MiB, which also bounds the scratch.
Status ReduceToRoot(Team& team, const MutableBuffer& buffer, ReduceOp op);
// Afterwards everybody's buffer is rank 0's. One message to each child.
Status SpreadFromRoot(Team& team, const MutableBuffer& buffer);

// Of both passes; sent is what rank 0 sends, which has most children and so sends most bytes.
constexpr Cost CostOfTreePasses(int ranks, std::size_t bytes) {
  const auto depth = static_cast<std::uint64_t>(TreePattern::Depth(ranks));
  const std::uint64_t up = CountOf(bytes, kMessageBytes);
  const double all = static_cast<double>(bytes) * static_cast<double>(depth);
  return {depth * (up + 1), 2 * all, depth, all};
}

// The most messages that any rank but rank 0 sends in both passes: above 1 MiB more than rank 0.
constexpr std::uint64_t TreeMessagesBelowRoot(int ranks, std::size_t bytes) {
  if (ranks == 1) return 0;
  return CountOf(bytes, kMessageBytes) +
         static_cast<std::uint64_t>(TreePattern::MostChildrenBelowRoot(ranks));
}

}  // namespace horovodx::collectives

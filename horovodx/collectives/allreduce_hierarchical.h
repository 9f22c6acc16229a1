// Hierarchical allreduce: afterwards every rank holds op over all.
//
// Ranks are in groups: the hosts, or g consecutive ranks each. The first of a group is its master.
// Inside each group sums travel up a tree to the master; the k masters run a ring; the result
// travels down the trees. 2 ceil(log2 g) + 2(k-1) steps, where a ring over all n = g * k ranks
// takes 2(n-1): pays for small buffers on many hosts. A master sends bytes * (ceil(log2 g) +
// 2(k-1)/k) in ceil(log2 g) + 2(k-1) messages (for one window of the ring); the others at most as
// much as a master's tree. Below 8 KiB steps are all that counts, and the masters run recursive
// doubling: log2 k steps and messages of all bytes each.
//
// The published form goes round the group in rings, 4(g-1) steps; a tree takes no more for any g,
// and 6 instead of 28 for g = 8, which is what counts at the sizes this is for.
//
// Partial sums: in the buffer. Scratch: at most 1 MiB.
//
// Thread: the caller's; blocks until done. `buffer` is borrowed for the call.
#pragma once

#include <algorithm>
#include <cstddef>

#include "horovodx/base/status.h"
#include "horovodx/collectives/allreduce_recursive_doubling.h"
#include "horovodx/collectives/allreduce_ring.h"
#include "horovodx/collectives/buffer.h"
#include "horovodx/collectives/cost.h"
#include "horovodx/collectives/team.h"
#include "horovodx/collectives/tree_passes.h"
#include "kernels/types.h"

namespace horovodx::collectives {

// Groups are hosts, which may be of different sizes.
[[nodiscard]] Status AllreduceHierarchical(Team& team, const MutableBuffer& buffer, ReduceOp op);
// Groups are `group_size` (> 0) consecutive ranks, the last one what is left.
[[nodiscard]] Status AllreduceHierarchical(Team& team, const MutableBuffer& buffer, ReduceOp op,
                                           int group_size);

constexpr bool MastersRunRing(std::size_t bytes) { return bytes >= 8 << 10; }

// Groups of equal size.
constexpr Cost CostOfHierarchical(int ranks, int groups, std::size_t bytes) {
  Cost cost =
      CostOfTreePasses(ranks / groups, bytes) +
      (MastersRunRing(bytes) ? CostOfRing(groups, bytes) : CostOfRecursiveDoubling(groups, bytes));
  cost.messages = std::max(cost.messages, TreeMessagesBelowRoot(ranks / groups, bytes));
  return cost;
}

}  // namespace horovodx::collectives

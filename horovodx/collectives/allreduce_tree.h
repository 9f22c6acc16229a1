// Tree allreduce: afterwards every rank holds op over all.
//
// Sums travel up a binomial tree to rank 0, the result travels down: 2 ceil(log2 n) steps of all
// bytes. The root sends ceil(log2 n) messages of all bytes, a leaf one (in pieces of at most 1 MiB
// on the way up). As many steps as two recursive doublings, but only n-1 messages in the whole
// network at a time and none between the ranks of different subtrees except their heads: pays for
// small buffers on many hosts.
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
#include "horovodx/collectives/team.h"
#include "horovodx/collectives/tree_passes.h"
#include "kernels/types.h"

namespace horovodx::collectives {

[[nodiscard]] Status AllreduceTree(Team& team, const MutableBuffer& buffer, ReduceOp op);

constexpr Cost CostOfTree(int ranks, std::size_t bytes) {
  Cost cost = CostOfTreePasses(ranks, bytes);
  cost.messages = std::max(cost.messages, TreeMessagesBelowRoot(ranks, bytes));
  return cost;
}

}  // namespace horovodx::collectives

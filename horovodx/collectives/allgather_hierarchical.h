// Hierarchical allgather: afterwards every rank holds every rank's block. For hosts with several
// ranks, of any number each.
//
// Inside each host a ring gathers the blocks of its ranks. What a host then has is cut into s equal
// slices, s being the ranks of the smallest host; the i-th ranks of all hosts pass the i-th slices
// round a ring. Inside each host another ring gathers what its ranks have got. So every byte enters
// a host once, over s links at the same time, in l-1 + h-1 + l-1 steps (h hosts of l ranks, slices
// of one segment), where a ring over all n ranks takes n-1, and enters a host as often as that has
// a rank whose left neighbour sits elsewhere.
//
// B bytes in all, b of them of the host's ranks: a rank sends about b(l-1)/l + B/s (h-1)/h +
// (B-b)(l-1)/l. With one host it is the ring alone.
//
// Thread: the caller's; blocks until done, the interrupt is raised or a time limit passes. Memory
// is borrowed for the call. No scratch.
#pragma once

#include <span>

#include "horovodx/base/bytes.h"
#include "horovodx/base/status.h"
#include "horovodx/collectives/patterns/blocks.h"
#include "horovodx/collectives/team.h"
#include "horovodx/topology/host_map.h"

namespace horovodx::collectives {

// `blocks` (the same on all ranks) are byte ranges of `out`; mine is already in place. `out` may
// lie in several pieces: tensors that travel together are listed rank by rank.
[[nodiscard]] Status AllgatherHierarchical(Team& team, const Blocks& blocks,
                                           std::span<const MutableBytes> out);

// What `rank` sends.
Traffic CostOfAllgatherHierarchical(const Blocks& blocks, const topology::HostMap& hosts, int rank);

}  // namespace horovodx::collectives

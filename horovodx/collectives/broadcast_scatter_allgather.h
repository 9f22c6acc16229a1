// Broadcast by scatter and allgather: afterwards every rank holds what the root held. For middling
// buffers among many ranks.
//
// The buffer is cut into n chunks, which go down a binomial tree (everybody gets its own and those
// of its subtree), then round a ring (allgather_ring.h). Steps: ceil(log2 n) + n-1. The root sends
// 2·bytes·(n-1)/n, nobody more; no rank sends the whole buffer twice, as the binomial root does.
//
// Thread: the caller's; blocks until done, the interrupt is raised or a time limit passes. Memory
// is borrowed for the call. No scratch.
#pragma once

#include <span>

#include "horovodx/base/bytes.h"
#include "horovodx/base/status.h"
#include "horovodx/collectives/team.h"

namespace horovodx::collectives {

// The pieces together are as long on every rank; where one ends and the next begins may differ.
[[nodiscard]] Status BroadcastScatterAllgather(Team& team, int root,
                                               std::span<const MutableBytes> buffer);

// What `rank` sends of a buffer of `bytes`.
Traffic CostOfBroadcastScatterAllgather(std::size_t bytes, int ranks, int root, int rank);

}  // namespace horovodx::collectives

// Binomial broadcast: afterwards every rank holds what the root held. For small buffers.
//
// Whoever has the data passes it on, so twice as many have it after every step. Steps: ceil(log2
// n). The root sends ceil(log2 n) messages, a leaf none; n-1 in all, each the whole buffer.
// The root is done when its messages are on their way: nobody learns that all have come.
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
[[nodiscard]] Status BroadcastBinomial(Team& team, int root, std::span<const MutableBytes> buffer);

// What `rank` sends of a buffer of `bytes`.
Traffic CostOfBroadcastBinomial(std::size_t bytes, int ranks, int root, int rank);

}  // namespace horovodx::collectives

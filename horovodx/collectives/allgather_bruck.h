// Bruck allgather: afterwards every rank holds every rank's block. For small blocks.
//
// In step k each rank passes all it has (its own block and the 2^k - 1 following ones) to the rank
// 2^k before it, and gets as many from the rank 2^k behind it. The last step moves what is still
// missing, so any number of ranks takes ceil(log2 n) steps and messages. Bytes sent per rank: with
// equal blocks of b bytes (n-1)·b; with uneven ones a rank that sits before a large block sends it
// up to ceil(log2 n) times. Blocks go straight from and to their places: no scratch, no rotation.
//
// Thread: the caller's; blocks until done, the interrupt is raised or a time limit passes. Memory
// is borrowed for the call.
#pragma once

#include <span>

#include "horovodx/base/bytes.h"
#include "horovodx/base/status.h"
#include "horovodx/collectives/patterns/blocks.h"
#include "horovodx/collectives/team.h"

namespace horovodx::collectives {

// `blocks` (the same on all ranks) are byte ranges of `out`; mine is already in place. `out` may
// lie in several pieces: tensors that travel together are listed rank by rank.
[[nodiscard]] Status AllgatherBruck(Team& team, const Blocks& blocks,
                                    std::span<const MutableBytes> out);
[[nodiscard]] inline Status AllgatherBruck(Team& team, const Blocks& blocks, MutableBytes out) {
  return AllgatherBruck(team, blocks, std::span<const MutableBytes>(&out, 1));
}

// What `rank` sends.
Traffic CostOfAllgatherBruck(const Blocks& blocks, int rank);

}  // namespace horovodx::collectives

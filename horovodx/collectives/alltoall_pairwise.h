// Pairwise alltoall(v): afterwards every rank holds the block that each rank had for it.
//
// In step s each rank sends straight to the rank s behind it and receives from the rank s before
// it; its own block is copied. n-1 steps and messages (also for empty blocks: nobody is done before
// everybody has come), and every byte for another rank is sent once. For large and uneven blocks.
//
// Thread: the caller's; blocks until done, the interrupt is raised or a time limit passes. Memory
// is borrowed for the call. No scratch.
#pragma once

#include "horovodx/base/bytes.h"
#include "horovodx/base/status.h"
#include "horovodx/collectives/patterns/blocks.h"
#include "horovodx/collectives/team.h"

namespace horovodx::collectives {

// `send[i]`: the bytes of `in` that are for rank i. `receive[i]`: where in `out` the bytes from
// rank i go; as many as rank i has for me (see alltoall_counts.h).
[[nodiscard]] Status AlltoallPairwise(Team& team, ConstBytes in, const Blocks& send,
                                      MutableBytes out, const Blocks& receive);

// What `rank` sends.
Traffic CostOfAlltoallPairwise(const Blocks& send, int rank);

}  // namespace horovodx::collectives

// Bruck alltoall: afterwards every rank holds the block that each rank had for it. For small blocks
// of one size.
//
// Blocks travel by the binary digits of their distance: in step k each rank sends to the rank 2^k
// behind it all blocks with digit k set in the distance they have to go, its own and those it
// carries for others. ceil(log2 n) steps and messages instead of n-1, each of about n/2 blocks, so
// about n/2·log2(n) blocks are sent instead of n-1.
//
// Thread: the caller's; blocks until done, the interrupt is raised or a time limit passes. Memory
// is borrowed for the call. Scratch: 1.5 times the input.
#pragma once

#include "horovodx/base/bytes.h"
#include "horovodx/base/status.h"
#include "horovodx/collectives/team.h"

namespace horovodx::collectives {

// `in` and `out` are n blocks of the same size each, in rank order; they do not overlap.
[[nodiscard]] Status AlltoallBruck(Team& team, ConstBytes in, MutableBytes out);

// What each rank sends when its input is `bytes` long.
Traffic CostOfAlltoallBruck(std::size_t bytes, int ranks);

}  // namespace horovodx::collectives

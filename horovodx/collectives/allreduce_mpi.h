// MPI's own allreduce, where every rank of the team is joined by MPI.
//
// A barrier over our links goes first: MPI's collectives cannot be taken back, and a planned bucket
// may be, as long as one rank has not come. What MPI has no type or operation for (16-bit floats,
// bool), and teams that MPI does not know as a whole, are refused: whoever selects knows
// (select.h).
//
// Thread: the caller's; blocks until done. `buffer` is borrowed for the call, and holds finished
// results only.
#pragma once

#include <cstddef>

#include "horovodx/base/status.h"
#include "horovodx/collectives/buffer.h"
#include "horovodx/collectives/cost.h"
#include "horovodx/collectives/team.h"

namespace horovodx::collectives {

[[nodiscard]] Status AllreduceMpi(Team& team, const MutableBuffer& buffer, ReduceOp op);

// Whether it can; the same answer on all ranks of the team.
bool HasAllreduceMpi(const Team& team, ElementType type, ReduceOp op);

// What MPI does is not ours to know. As long as it has not been measured it counts as what MPIs are
// known to do: recursive doubling below this, halving and doubling above it, after our barrier.
inline constexpr std::size_t kMpiSmallBytes = 64 << 10;
Cost CostOfMpi(int ranks, std::size_t bytes);

}  // namespace horovodx::collectives

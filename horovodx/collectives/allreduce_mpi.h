// MPI's own allreduce, where every rank of the team is joined by MPI.
//
// A barrier over our links goes first: MPI's collectives cannot be taken back, and a planned bucket
// may be, as long as one rank has not come. What MPI has no type or operation for (16-bit floats,
// bool), and teams that MPI does not know as a whole, take the ring: the same choice on all ranks.
//
// Thread: the caller's; blocks until done. `buffer` is borrowed for the call, and holds finished
// results only.
#pragma once

#include "horovodx/base/status.h"
#include "horovodx/collectives/buffer.h"
#include "horovodx/collectives/team.h"

namespace horovodx::collectives {

[[nodiscard]] Status AllreduceMpi(Team& team, const MutableBuffer& buffer, ReduceOp op);

}  // namespace horovodx::collectives

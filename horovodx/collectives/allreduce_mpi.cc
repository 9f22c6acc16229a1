#include "horovodx/collectives/allreduce_mpi.h"

#include "horovodx/collectives/allreduce_ring.h"
#include "horovodx/collectives/barrier_dissemination.h"
#include "horovodx/transport/native_allreduce.h"

namespace horovodx::collectives {

Status AllreduceMpi(Team& team, const MutableBuffer& buffer, ReduceOp op) {
  transport::NativeAllreduce* native = team.native();
  if (native == nullptr || !native->Has(buffer.type(), op)) return AllreduceRing(team, buffer, op);
  HVDX_RETURN_IF_ERROR(BarrierDissemination(team));
  for (const kernels::Piece& piece : buffer.pieces()) {
    HVDX_RETURN_IF_ERROR(native->Run(buffer.type(), op, piece.data, piece.count,
                                     Deadline::After(team.time_limit())));
  }
  return Status::Ok();
}

}  // namespace horovodx::collectives

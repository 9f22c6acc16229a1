#include "horovodx/collectives/allreduce_mpi.h"

#include <string>

#include "horovodx/collectives/allreduce_recursive_doubling.h"
#include "horovodx/collectives/allreduce_recursive_halving_doubling.h"
#include "horovodx/collectives/barrier_dissemination.h"
#include "horovodx/transport/native_allreduce.h"

namespace horovodx::collectives {

bool HasAllreduceMpi(const Team& team, ElementType type, ReduceOp op) {
  const transport::NativeAllreduce* native = team.native();
  return native != nullptr && native->Has(type, op);
}

Status AllreduceMpi(Team& team, const MutableBuffer& buffer, ReduceOp op) {
  if (!HasAllreduceMpi(team, buffer.type(), op)) {
    return Status::Precondition(std::string("MPI's allreduce was chosen for ") +
                                NameOf(buffer.type()) + ", and these ranks have none for it");
  }
  HVDX_RETURN_IF_ERROR(BarrierDissemination(team));
  for (const kernels::Piece& piece : buffer.pieces()) {
    HVDX_RETURN_IF_ERROR(team.native()->Run(buffer.type(), op, piece.data, piece.count,
                                            Deadline::After(team.time_limit())));
  }
  return Status::Ok();
}

Cost CostOfMpi(int ranks, std::size_t bytes) {
  Cost barrier;
  barrier.steps = barrier.messages = CostOfBarrierDissemination(ranks).messages;
  return barrier + (bytes < kMpiSmallBytes ? CostOfRecursiveDoubling(ranks, bytes)
                                           : CostOfRecursiveHalvingDoubling(ranks, bytes));
}

}  // namespace horovodx::collectives

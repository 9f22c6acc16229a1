#include "horovodx/collectives/allreduce_master_worker.h"

namespace horovodx::collectives {

Status AllreduceMasterWorker(Team& team, const MutableBuffer& buffer, ReduceOp op) {
  constexpr int kMaster = 0;
  if (team.rank() != kMaster) {
    HVDX_RETURN_IF_ERROR(SendInMessages(team, kMaster, buffer));
    return Receive(team, kMaster, buffer);
  }
  Scratch scratch;
  for (int worker = 1; worker < team.size(); ++worker) {
    HVDX_RETURN_IF_ERROR(ReceiveAndReduceInto(team, worker, buffer, op, scratch));
  }
  for (int worker = 1; worker < team.size(); ++worker) {
    HVDX_RETURN_IF_ERROR(Send(team, worker, buffer));
  }
  return Status::Ok();
}

}  // namespace horovodx::collectives

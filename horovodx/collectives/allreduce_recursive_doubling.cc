#include "horovodx/collectives/allreduce_recursive_doubling.h"

namespace horovodx::collectives {

Status AllreduceRecursiveDoubling(Team& team, const MutableBuffer& buffer, ReduceOp op) {
  const HypercubePattern cube(team.rank(), team.size());
  if (cube.is_guest()) {
    HVDX_RETURN_IF_ERROR(SendInMessages(team, cube.host(), buffer));
    return Receive(team, cube.host(), buffer);
  }
  Scratch scratch;
  if (cube.has_guest()) {
    HVDX_RETURN_IF_ERROR(ReceiveAndReduceInto(team, cube.guest(), buffer, op, scratch));
  }
  for (int d = 0; d < cube.dimensions(); ++d) {
    HVDX_RETURN_IF_ERROR(SwapAndReduceAll(team, cube.Neighbour(d), buffer, op, scratch));
  }
  return cube.has_guest() ? Send(team, cube.guest(), buffer) : Status::Ok();
}

}  // namespace horovodx::collectives

#include "horovodx/collectives/allreduce_recursive_halving_doubling.h"

#include <vector>

namespace horovodx::collectives {
namespace {

Status Butterfly(Team& team, const HypercubePattern& cube, const MutableBuffer& buffer, ReduceOp op,
                 Scratch& scratch) {
  const auto levels = Halvings(buffer.count(), cube.corner(), cube.dimensions());
  for (int d = 0; d < cube.dimensions(); ++d) {
    HVDX_RETURN_IF_ERROR(SwapAndReduceInto(team, cube.Neighbour(d), Part(buffer, levels[d].give),
                                           Part(buffer, levels[d].keep), op, scratch));
  }
  for (int d = cube.dimensions() - 1; d >= 0; --d) {
    HVDX_RETURN_IF_ERROR(SendAndCopy(team, cube.Neighbour(d), Part(buffer, levels[d].keep),
                                     cube.Neighbour(d), Part(buffer, levels[d].give)));
  }
  return Status::Ok();
}

}  // namespace

Status AllreduceRecursiveHalvingDoubling(Team& team, const MutableBuffer& buffer, ReduceOp op) {
  const HypercubePattern cube(team.rank(), team.size());
  if (cube.is_guest()) {
    HVDX_RETURN_IF_ERROR(SendInMessages(team, cube.host(), buffer));
    return Receive(team, cube.host(), buffer);
  }
  Scratch scratch;
  if (cube.has_guest()) {
    HVDX_RETURN_IF_ERROR(ReceiveAndReduceInto(team, cube.guest(), buffer, op, scratch));
  }
  HVDX_RETURN_IF_ERROR(Butterfly(team, cube, buffer, op, scratch));
  return cube.has_guest() ? Send(team, cube.guest(), buffer) : Status::Ok();
}

}  // namespace horovodx::collectives

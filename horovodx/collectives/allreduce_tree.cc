#include "horovodx/collectives/allreduce_tree.h"

namespace horovodx::collectives {

Status AllreduceTree(Team& team, const MutableBuffer& buffer, ReduceOp op) {
  HVDX_RETURN_IF_ERROR(ReduceToRoot(team, buffer, op));
  return SpreadFromRoot(team, buffer);
}

}  // namespace horovodx::collectives

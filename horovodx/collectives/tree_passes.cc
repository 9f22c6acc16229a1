#include "horovodx/collectives/tree_passes.h"

#include <vector>

namespace horovodx::collectives {

Status ReduceToRoot(Team& team, const MutableBuffer& buffer, ReduceOp op) {
  const TreePattern tree(team.rank(), team.size());
  Scratch scratch;
  for (int child : tree.children()) {
    HVDX_RETURN_IF_ERROR(ReceiveAndReduceInto(team, child, buffer, op, scratch));
  }
  return tree.is_root() ? Status::Ok() : SendInMessages(team, tree.parent(), buffer);
}

Status SpreadFromRoot(Team& team, const MutableBuffer& buffer) {
  const TreePattern tree(team.rank(), team.size());
  if (!tree.is_root()) HVDX_RETURN_IF_ERROR(Receive(team, tree.parent(), buffer));
  const std::vector<int> children = tree.children();
  // The largest subtree first: it has the longest way to go.
  for (auto child = children.rbegin(); child != children.rend(); ++child) {
    HVDX_RETURN_IF_ERROR(Send(team, *child, buffer));
  }
  return Status::Ok();
}

}  // namespace horovodx::collectives

#include "horovodx/collectives/allreduce_hierarchical.h"

#include <algorithm>
#include <vector>

namespace horovodx::collectives {
namespace {

using Groups = std::vector<std::vector<int>>;

Groups HostsOf(const Team& team) {
  Groups groups;
  for (int h = 0; h < team.hosts().hosts(); ++h) groups.push_back(team.hosts().ranks_on(h));
  return groups;
}

Groups Consecutive(int ranks, int group_size) {
  Groups groups;
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank % group_size == 0) groups.emplace_back();
    groups.back().push_back(rank);
  }
  return groups;
}

Status ReduceByGroups(Team& team, const MutableBuffer& buffer, ReduceOp op, const Groups& groups) {
  std::vector<int> masters;
  const std::vector<int>* mine = nullptr;
  for (const auto& group : groups) {
    masters.push_back(group.front());
    if (std::find(group.begin(), group.end(), team.rank()) != group.end()) mine = &group;
  }
  Team group = team.Sub(*mine);
  HVDX_RETURN_IF_ERROR(ReduceToRoot(group, buffer, op));
  if (group.rank() == 0) {
    Team top = team.Sub(masters);
    const bool ring = MastersRunRing(buffer.bytes());
    HVDX_RETURN_IF_ERROR(ring ? AllreduceRing(top, buffer, op)
                              : AllreduceRecursiveDoubling(top, buffer, op));
  }
  return SpreadFromRoot(group, buffer);
}

}  // namespace

Status AllreduceHierarchical(Team& team, const MutableBuffer& buffer, ReduceOp op) {
  return ReduceByGroups(team, buffer, op, HostsOf(team));
}

Status AllreduceHierarchical(Team& team, const MutableBuffer& buffer, ReduceOp op, int group_size) {
  if (group_size < 1) {
    return Status::InvalidArgument("hierarchical allreduce in groups of " +
                                   std::to_string(group_size) + " ranks; at least 1 is needed");
  }
  return ReduceByGroups(team, buffer, op, Consecutive(team.size(), group_size));
}

}  // namespace horovodx::collectives

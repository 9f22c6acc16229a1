#include "horovodx/transport/tcp/control_tree.h"

namespace horovodx::transport::tcp {

int ParentOf(const topology::HostMap& hosts, int rank) {
  if (rank == 0) return -1;
  const int leader = hosts.leader_of(rank);
  return leader == rank ? 0 : leader;
}

std::vector<int> ChildrenOf(const topology::HostMap& hosts, int rank) {
  std::vector<int> children;
  for (int other = 0; other < hosts.size(); ++other) {
    if (ParentOf(hosts, other) == rank) children.push_back(other);
  }
  return children;
}

}  // namespace horovodx::transport::tcp

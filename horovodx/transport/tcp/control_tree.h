// The control tree: every rank hangs on the first rank of its host, those on rank 0. Pure.
#pragma once

#include <vector>

#include "horovodx/topology/host_map.h"

namespace horovodx::transport::tcp {

// -1 for rank 0.
int ParentOf(const topology::HostMap& hosts, int rank);
std::vector<int> ChildrenOf(const topology::HostMap& hosts, int rank);  // ascending

}  // namespace horovodx::transport::tcp

#include "horovodx/topology/host_map.h"

#include <algorithm>
#include <map>

namespace horovodx::topology {

HostMap::HostMap(const std::vector<std::string>& host_of_rank) {
  std::map<std::string, int> number;
  for (int rank = 0; rank < static_cast<int>(host_of_rank.size()); ++rank) {
    const auto [it, is_new] = number.try_emplace(host_of_rank[rank], hosts());
    if (is_new) {
      ranks_on_.emplace_back();
      names_.push_back(host_of_rank[rank]);
    }
    host_of_.push_back(it->second);
    ranks_on_[it->second].push_back(rank);
  }
}

HostMap HostMap::OneHost(int ranks) { return Grid(1, ranks); }

HostMap HostMap::Grid(int hosts, int ranks) {
  std::vector<std::string> names;
  for (int host = 0; host < hosts; ++host) {
    names.insert(names.end(), ranks, "host" + std::to_string(host));
  }
  return HostMap(names);
}

int HostMap::local_rank(int rank) const {
  const auto& mine = ranks_on_[host_of_[rank]];
  return static_cast<int>(std::find(mine.begin(), mine.end(), rank) - mine.begin());
}

int HostMap::local_size(int rank) const {
  return static_cast<int>(ranks_on_[host_of_[rank]].size());
}

int HostMap::cross_rank(int rank) const {
  const auto local = static_cast<std::size_t>(local_rank(rank));
  return static_cast<int>(std::count_if(ranks_on_.begin(), ranks_on_.begin() + host_of_[rank],
                                        [&](const auto& ranks) { return ranks.size() > local; }));
}

int HostMap::cross_size(int rank) const {
  const auto local = static_cast<std::size_t>(local_rank(rank));
  return static_cast<int>(std::count_if(ranks_on_.begin(), ranks_on_.end(),
                                        [&](const auto& ranks) { return ranks.size() > local; }));
}

bool HostMap::homogeneous() const {
  return std::all_of(ranks_on_.begin(), ranks_on_.end(),
                     [&](const auto& ranks) { return ranks.size() == ranks_on_.front().size(); });
}

HostMap HostMap::Subset(const std::vector<int>& ranks) const {
  std::vector<std::string> hosts;
  for (int rank : ranks) hosts.push_back(names_[host_of_[rank]]);
  return HostMap(hosts);
}

}  // namespace horovodx::topology

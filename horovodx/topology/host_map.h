// Who sits where: from the host of every rank to local and cross ranks. Pure.
#pragma once

#include <string>
#include <vector>

namespace horovodx::topology {

// Hosts are numbered in the order in which their first rank appears. Ranks of one host need not be
// contiguous. local rank: place among the ranks of the same host. cross rank: place of this host
// among the hosts that have a rank with the same local rank.
class HostMap {
 public:
  HostMap() = default;
  explicit HostMap(const std::vector<std::string>& host_of_rank);

  // n ranks on one host.
  static HostMap OneHost(int ranks);
  // `hosts` hosts with `ranks` ranks each, contiguous.
  static HostMap Grid(int hosts, int ranks);

  int size() const { return static_cast<int>(host_of_.size()); }
  int hosts() const { return static_cast<int>(ranks_on_.size()); }
  int host_of(int rank) const { return host_of_[rank]; }
  const std::string& host_name(int host) const { return names_[host]; }
  const std::vector<int>& ranks_on(int host) const { return ranks_on_[host]; }  // ascending
  int leader_of(int rank) const { return ranks_on_[host_of_[rank]].front(); }

  int local_rank(int rank) const;
  int local_size(int rank) const;
  int cross_rank(int rank) const;
  int cross_size(int rank) const;
  bool homogeneous() const;  // every host has the same number of ranks

  // The map of a subset, renumbered 0..n-1 in the order given.
  HostMap Subset(const std::vector<int>& ranks) const;

 private:
  std::vector<int> host_of_;
  std::vector<std::vector<int>> ranks_on_;
  std::vector<std::string> names_;
};

}  // namespace horovodx::topology

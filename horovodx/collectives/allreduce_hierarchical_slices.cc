#include "horovodx/collectives/allreduce_hierarchical_slices.h"

#include <algorithm>
#include <vector>

#include "horovodx/collectives/rows_and_columns.h"

namespace horovodx::collectives {
namespace {

std::vector<int> HostSizes(const topology::HostMap& hosts) {
  std::vector<int> sizes;
  for (int h = 0; h < hosts.hosts(); ++h) {
    sizes.push_back(static_cast<int>(hosts.ranks_on(h).size()));
  }
  return sizes;
}

// Which slices each rank of a host with `ranks` ranks is responsible for.
ChunkPlan Duties(int slices, int ranks) {
  return ChunkPlan(static_cast<std::size_t>(slices), ranks);
}

// The ranks responsible for `slice`, one of each host.
std::vector<int> KeepersOf(int slice, int slices, const topology::HostMap& hosts) {
  std::vector<int> keepers;
  for (int h = 0; h < hosts.hosts(); ++h) {
    const auto& ranks = hosts.ranks_on(h);
    const ChunkPlan duties = Duties(slices, static_cast<int>(ranks.size()));
    int local = 0;
    while (duties[local].end() <= static_cast<std::size_t>(slice)) ++local;
    keepers.push_back(ranks[local]);
  }
  return keepers;
}

}  // namespace

Status AllreduceHierarchicalSlices(Team& team, const MutableBuffer& buffer, ReduceOp op) {
  const auto& hosts = team.hosts();
  Team host = team.Sub(hosts.ranks_on(hosts.host_of(team.rank())));
  const std::vector<int> sizes = HostSizes(hosts);
  const int slices = *std::max_element(sizes.begin(), sizes.end());
  const int smallest = *std::min_element(sizes.begin(), sizes.end());
  const Chunk mine = Duties(slices, host.size())[host.rank()];
  RowsAndColumns how;
  const auto columns = static_cast<std::size_t>(smallest);
  const std::size_t unit = SizeOf(buffer.type());
  const std::size_t share = buffer.count() * unit / columns;
  how.window_elements = SliceBytes(hosts.hosts(), share, team.SegmentOr(0)) / unit * columns;
  how.chunks = [&](std::size_t count) {
    return ChunkPlan::Merged(ChunkPlan(count, slices), host.size());
  };
  // Slices are taken in ascending order by everybody, so the lowest unfinished one never waits for
  // another.
  how.add_rings = [&](std::size_t count, const MutableBuffer& sums, RingStrand& across) {
    const ChunkPlan slice(count, slices);
    std::size_t at = 0;
    for (auto s = static_cast<int>(mine.begin); s < static_cast<int>(mine.end()); ++s) {
      across.Add(team.Sub(KeepersOf(s, slices, hosts)), sums.Slice(at, slice[s].count));
      at += slice[s].count;
    }
  };
  return AllreduceInRowsAndColumns(host, buffer, op, how);
}

}  // namespace horovodx::collectives

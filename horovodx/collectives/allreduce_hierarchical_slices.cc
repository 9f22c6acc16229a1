#include "horovodx/collectives/allreduce_hierarchical_slices.h"

#include <algorithm>
#include <vector>

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

// One window: `slice` are its slices, `mine` the numbers of those I am responsible for. Slices are
// taken in ascending order by everybody, so the lowest unfinished one never waits for another.
Status ReduceWindow(Team& team, Team& host, const MutableBuffer& window, const ChunkPlan& slice,
                    const Chunk& mine, ReduceOp op, RingScratch& scratch) {
  const ChunkPlan chunk = ChunkPlan::Merged(slice, host.size());
  HVDX_ASSIGN_OR_RETURN(const MutableBuffer sums, ReducePass(host, window, chunk, op, scratch));
  std::size_t at = 0;
  for (auto s = static_cast<int>(mine.begin); s < static_cast<int>(mine.end()); ++s) {
    Team across = team.Sub(KeepersOf(s, slice.parts(), team.hosts()));
    HVDX_RETURN_IF_ERROR(AllreduceRing(across, sums.Slice(at, slice[s].count), op));
    at += slice[s].count;
  }
  Copy(Part(window, chunk[host.rank()]), sums);
  return GatherPass(host, window, chunk);
}

}  // namespace

Status AllreduceHierarchicalSlices(Team& team, const MutableBuffer& buffer, ReduceOp op) {
  const auto& hosts = team.hosts();
  Team host = team.Sub(hosts.ranks_on(hosts.host_of(team.rank())));
  const std::vector<int> sizes = HostSizes(hosts);
  const int slices = *std::max_element(sizes.begin(), sizes.end());
  const int smallest = *std::min_element(sizes.begin(), sizes.end());
  const std::size_t elements = SliceBytes(hosts.hosts()) / SizeOf(buffer.type());
  const WindowPlan windows(buffer.count(), elements * static_cast<std::size_t>(smallest));
  const Chunk mine = Duties(slices, host.size())[host.rank()];
  RingScratch scratch;
  for (std::size_t w = 0; w < windows.windows(); ++w) {
    const MutableBuffer window = Part(buffer, windows[w]);
    HVDX_RETURN_IF_ERROR(
        ReduceWindow(team, host, window, ChunkPlan(window.count(), slices), mine, op, scratch));
  }
  return Status::Ok();
}

}  // namespace horovodx::collectives

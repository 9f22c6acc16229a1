#include "horovodx/collectives/allgather_hierarchical.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "horovodx/collectives/allgather_ring.h"
#include "horovodx/collectives/patterns/concatenation.h"

namespace horovodx::collectives {
namespace {

// Who passes what to whom, as one rank sees it. Slices are stretches of all blocks laid out host by
// host.
class Levels {
 public:
  Levels(const Blocks& blocks, const topology::HostMap& hosts, int rank)
      : blocks_(blocks),
        hosts_(hosts),
        host_(hosts.host_of(rank)),
        place_(static_cast<std::size_t>(hosts.local_rank(rank))),
        slices_(neighbours().size()) {
    std::vector<std::size_t> sizes;
    for (int host = 0; host < hosts.hosts(); ++host) {
      std::size_t size = 0;
      for (int other : hosts.ranks_on(host)) size += blocks[other].size;
      sizes.push_back(size);
      slices_ = std::min(slices_, hosts.ranks_on(host).size());
    }
    by_host_ = Blocks::Packed(sizes);
  }

  const std::vector<int>& neighbours() const { return hosts_.ranks_on(host_); }
  bool crosses() const { return place_ < slices_; }
  std::vector<int> column() const {
    std::vector<int> ranks;
    for (int host = 0; host < hosts_.hosts(); ++host) {
      ranks.push_back(hosts_.ranks_on(host)[place_]);
    }
    return ranks;
  }
  int place_in_column() const { return host_; }
  int place_in_host() const { return static_cast<int>(place_); }

  // The blocks of my host's ranks.
  Blocks OfNeighbours() const {
    std::vector<Block> some;
    for (int rank : neighbours()) some.push_back(blocks_[rank]);
    return Blocks(std::move(some));
  }
  std::vector<MutableBytes> HostByHost(const Concatenation& memory) const {
    std::vector<MutableBytes> parts;
    for (int host = 0; host < hosts_.hosts(); ++host) {
      for (int rank : hosts_.ranks_on(host)) memory.Append(blocks_[rank], parts);
    }
    return parts;
  }
  // What my column passes round: my slice of every host.
  Blocks OfColumn() const {
    std::vector<Block> some;
    for (int host = 0; host < hosts_.hosts(); ++host) some.push_back(Slice(host, place_));
    return Blocks(std::move(some));
  }
  // What each of my neighbours has got from other hosts, one after the other.
  Blocks Foreign() const {
    std::vector<std::size_t> sizes;
    for (std::size_t place = 0; place < neighbours().size(); ++place) {
      std::size_t size = 0;
      for (int host = 0; host < hosts_.hosts(); ++host) size += ForeignSlice(host, place).size;
      sizes.push_back(size);
    }
    return Blocks::Packed(sizes);
  }
  std::vector<MutableBytes> ForeignIn(const Concatenation& host_by_host) const {
    std::vector<MutableBytes> parts;
    for (std::size_t place = 0; place < neighbours().size(); ++place) {
      for (int host = 0; host < hosts_.hosts(); ++host) {
        host_by_host.Append(ForeignSlice(host, place), parts);
      }
    }
    return parts;
  }

 private:
  Block Slice(int host, std::size_t index) const {
    const Block& all = by_host_[host];
    return PartOf(all, PartsOf(all.size, slices_), index);  // of a size that `slices_` of cover all
  }
  Block ForeignSlice(int host, std::size_t place) const {
    return host == host_ || place >= slices_ ? Block() : Slice(host, place);
  }

  const Blocks& blocks_;
  const topology::HostMap& hosts_;
  int host_;
  std::size_t place_;
  std::size_t slices_;
  Blocks by_host_{{}};
};

Traffic operator+(const Traffic& x, const Traffic& y) {
  return {x.messages + y.messages, x.bytes + y.bytes};
}

}  // namespace

Status AllgatherHierarchical(Team& team, const Blocks& blocks, std::span<const MutableBytes> out) {
  const Concatenation memory(out);
  if (!blocks.FitIn(memory.size(), team.size())) {
    return Status::InvalidArgument("allgather: the blocks do not fit the team or the output");
  }
  const Levels levels(blocks, team.hosts(), team.rank());
  Team host = team.Sub(levels.neighbours());
  HVDX_RETURN_IF_ERROR(AllgatherRing(host, levels.OfNeighbours(), out));
  if (team.hosts().hosts() == 1) return Status::Ok();
  const auto host_by_host = levels.HostByHost(memory);
  if (levels.crosses()) {
    Team column = team.Sub(levels.column());
    HVDX_RETURN_IF_ERROR(AllgatherRing(column, levels.OfColumn(), host_by_host));
  }
  const auto foreign = levels.ForeignIn(Concatenation(host_by_host));
  return AllgatherRing(host, levels.Foreign(), foreign);
}

Traffic CostOfAllgatherHierarchical(const Blocks& blocks, const topology::HostMap& hosts,
                                    int rank) {
  const Levels levels(blocks, hosts, rank);
  Traffic cost = CostOfAllgatherRing(levels.OfNeighbours(), levels.place_in_host());
  if (hosts.hosts() == 1) return cost;
  if (levels.crosses()) {
    cost = cost + CostOfAllgatherRing(levels.OfColumn(), levels.place_in_column());
  }
  return cost + CostOfAllgatherRing(levels.Foreign(), levels.place_in_host());
}

}  // namespace horovodx::collectives

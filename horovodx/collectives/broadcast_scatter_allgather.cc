#include "horovodx/collectives/broadcast_scatter_allgather.h"

#include <vector>

#include "horovodx/collectives/allgather_ring.h"
#include "horovodx/collectives/patterns/binomial.h"
#include "horovodx/collectives/patterns/blocks.h"
#include "horovodx/collectives/patterns/concatenation.h"

namespace horovodx::collectives {
namespace {

// All ranks, counted from the root on.
std::vector<int> RanksFrom(int root, int n) {
  std::vector<int> ranks;
  for (int place = 0; place < n; ++place) ranks.push_back(Wrap(root + place, n));
  return ranks;
}

// The chunks of places [begin, end), which lie side by side.
Block Stretch(const Blocks& chunks, int begin, int end) {
  const std::size_t offset = chunks[begin].offset;
  return {offset, chunks[end - 1].end() - offset};
}

// From place 0 to all: each receives the chunks of its subtree and passes on its children's.
Status ScatterBinomial(Team& team, const Blocks& chunks, const Concatenation& memory) {
  const BinomialTree tree(team.rank(), team.size());
  if (!tree.is_root()) {
    const Block mine = Stretch(chunks, team.rank(), tree.end());
    HVDX_RETURN_IF_ERROR(team.Receive(tree.parent(), memory.ToReceive(mine)));
  }
  for (const auto& child : tree.children()) {
    const Block theirs = Stretch(chunks, child.place, child.end);
    HVDX_RETURN_IF_ERROR(team.Send(child.place, memory.ToSend(theirs)));
  }
  return Status::Ok();
}

}  // namespace

Status BroadcastScatterAllgather(Team& team, int root, std::span<const MutableBytes> buffer) {
  Team from_root = team.Sub(RanksFrom(root, team.size()));
  const Concatenation memory(buffer);
  const Blocks chunks = Blocks::Rows(memory.size(), 1, team.size());
  HVDX_RETURN_IF_ERROR(ScatterBinomial(from_root, chunks, memory));
  return AllgatherRing(from_root, chunks, buffer);
}

Traffic CostOfBroadcastScatterAllgather(std::size_t bytes, int ranks, int root, int rank) {
  const int place = Wrap(rank - root, ranks);
  const Blocks chunks = Blocks::Rows(bytes, 1, ranks);
  Traffic cost = CostOfAllgatherRing(chunks, place);
  for (const auto& child : BinomialTree(place, ranks).children()) {
    ++cost.messages;
    cost.bytes += Stretch(chunks, child.place, child.end).size;
  }
  return cost;
}

}  // namespace horovodx::collectives

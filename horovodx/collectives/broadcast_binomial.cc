#include "horovodx/collectives/broadcast_binomial.h"

#include <vector>

#include "horovodx/collectives/patterns/binomial.h"
#include "horovodx/collectives/patterns/blocks.h"

namespace horovodx::collectives {

Status BroadcastBinomial(Team& team, int root, std::span<const MutableBytes> buffer) {
  const int n = team.size();
  const BinomialTree tree(Wrap(team.rank() - root, n), n);
  const auto rank_at = [&](int place) { return Wrap(place + root, n); };
  if (!tree.is_root()) HVDX_RETURN_IF_ERROR(team.Receive(rank_at(tree.parent()), buffer));
  const std::vector<ConstBytes> whole(buffer.begin(), buffer.end());
  for (const auto& child : tree.children()) {
    HVDX_RETURN_IF_ERROR(team.Send(rank_at(child.place), whole));
  }
  return Status::Ok();
}

Traffic CostOfBroadcastBinomial(std::size_t bytes, int ranks, int root, int rank) {
  const auto children = BinomialTree(Wrap(rank - root, ranks), ranks).children().size();
  return {children, children * bytes};
}

}  // namespace horovodx::collectives

#include "horovodx/collectives/broadcast.h"

#include <string>

#include "horovodx/collectives/broadcast_binomial.h"
#include "horovodx/collectives/broadcast_chain.h"
#include "horovodx/collectives/broadcast_scatter_allgather.h"
#include "horovodx/collectives/select_gather.h"

namespace horovodx::collectives {

Status Broadcast(Team& team, int root, std::span<const MutableBytes> buffer) {
  if (root < 0 || root >= team.size()) {
    return Status::InvalidArgument("broadcast: there is no rank " + std::to_string(root) +
                                   " in a team of " + std::to_string(team.size()));
  }
  std::size_t bytes = 0;
  for (const MutableBytes& piece : buffer) bytes += piece.size();
  switch (SelectBroadcast(bytes, team.size())) {
    case BroadcastForm::kBinomial:
      return BroadcastBinomial(team, root, buffer);
    case BroadcastForm::kScatterAllgather:
      return BroadcastScatterAllgather(team, root, buffer);
    case BroadcastForm::kChain:
      break;
  }
  return BroadcastChain(team, root, buffer);
}

}  // namespace horovodx::collectives

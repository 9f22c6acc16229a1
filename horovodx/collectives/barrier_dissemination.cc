#include "horovodx/collectives/barrier_dissemination.h"

#include "horovodx/collectives/patterns/blocks.h"

namespace horovodx::collectives {

Status BarrierDissemination(Team& team) {
  const int n = team.size();
  for (int distance = 1; distance < n; distance *= 2) {
    const int behind = Wrap(team.rank() + distance, n);
    const int before = Wrap(team.rank() - distance, n);
    HVDX_RETURN_IF_ERROR(team.Exchange(behind, {}, before, {}));
  }
  return Status::Ok();
}

Traffic CostOfBarrierDissemination(int ranks) {
  Traffic cost;
  for (int distance = 1; distance < ranks; distance *= 2) ++cost.messages;
  return cost;
}

}  // namespace horovodx::collectives

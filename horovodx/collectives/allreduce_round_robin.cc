#include "horovodx/collectives/allreduce_round_robin.h"

#include "horovodx/collectives/patterns/round_robin.h"

namespace horovodx::collectives {

Status AllreduceRoundRobin(Team& team, const MutableBuffer& buffer, ReduceOp op) {
  if (team.size() == 1) return Status::Ok();
  const RoundRobinPattern rounds(team.rank(), team.size());
  const std::size_t slot = SlotBytes(team.size(), team.SegmentOr(0));
  const WindowPlan windows(buffer.count(), slot / SizeOf(buffer.type()));
  RankSlots slots(team.size(), team.rank());
  for (std::size_t w = 0; w < windows.windows(); ++w) {
    const MutableBuffer window = Part(buffer, windows[w]);
    for (int s = 0; s < rounds.rounds(); ++s) {
      const int from = rounds.From(s);
      HVDX_RETURN_IF_ERROR(SendAndCopy(team, rounds.To(s), window, from,
                                       slots.Get(from, window.type(), window.count())));
    }
    slots.ReduceInto(window, op);
  }
  return Status::Ok();
}

}  // namespace horovodx::collectives

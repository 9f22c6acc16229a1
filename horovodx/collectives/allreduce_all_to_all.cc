#include "horovodx/collectives/allreduce_all_to_all.h"

#include "horovodx/collectives/patterns/round_robin.h"

namespace horovodx::collectives {
namespace {

Status ReduceWindow(Team& team, const MutableBuffer& window, ReduceOp op, RankSlots& slots) {
  const RoundRobinPattern rounds(team.rank(), team.size());
  const ChunkPlan chunk(window.count(), team.size());
  const MutableBuffer mine = Part(window, chunk[team.rank()]);
  for (int s = 0; s < rounds.rounds(); ++s) {
    HVDX_RETURN_IF_ERROR(SendAndCopy(team, rounds.To(s), Part(window, chunk[rounds.To(s)]),
                                     rounds.From(s),
                                     slots.Get(rounds.From(s), mine.type(), mine.count())));
  }
  slots.ReduceInto(mine, op);
  for (int s = 0; s < rounds.rounds(); ++s) {
    HVDX_RETURN_IF_ERROR(
        SendAndCopy(team, rounds.To(s), mine, rounds.From(s), Part(window, chunk[rounds.From(s)])));
  }
  return Status::Ok();
}

}  // namespace

Status AllreduceAllToAll(Team& team, const MutableBuffer& buffer, ReduceOp op) {
  if (team.size() == 1) return Status::Ok();
  const std::size_t slot = SlotBytes(team.size(), team.SegmentOr(0)) / SizeOf(buffer.type());
  const WindowPlan windows(buffer.count(), slot * static_cast<std::size_t>(team.size()));
  RankSlots slots(team.size(), team.rank());
  for (std::size_t w = 0; w < windows.windows(); ++w) {
    HVDX_RETURN_IF_ERROR(ReduceWindow(team, Part(buffer, windows[w]), op, slots));
  }
  return Status::Ok();
}

}  // namespace horovodx::collectives

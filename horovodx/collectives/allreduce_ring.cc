#include "horovodx/collectives/allreduce_ring.h"

namespace horovodx::collectives {

Status AllreduceRing(Team& team, const MutableBuffer& buffer, ReduceOp op) {
  if (team.size() == 1) return Status::Ok();
  const std::size_t chunk_elements = team.SegmentOr(kRingChunkBytes) / SizeOf(buffer.type());
  const WindowPlan windows(buffer.count(), chunk_elements * static_cast<std::size_t>(team.size()));
  RingScratch scratch;
  for (std::size_t w = 0; w < windows.windows(); ++w) {
    const MutableBuffer window = Part(buffer, windows[w]);
    const ChunkPlan chunk(window.count(), team.size());
    HVDX_ASSIGN_OR_RETURN(const MutableBuffer sum, ReducePass(team, window, chunk, op, scratch));
    Copy(Part(window, chunk[team.rank()]), sum);
    HVDX_RETURN_IF_ERROR(GatherPass(team, window, chunk));
  }
  return Status::Ok();
}

}  // namespace horovodx::collectives

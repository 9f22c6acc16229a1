#include "horovodx/collectives/ring_passes.h"

#include "horovodx/collectives/patterns/ring.h"

namespace horovodx::collectives {

Result<MutableBuffer> ReducePass(Team& team, const MutableBuffer& input, const ChunkPlan& chunk,
                                 ReduceOp op, RingScratch& scratch) {
  const RingPattern ring(team.rank(), team.size());
  MutableBuffer sums = Part(input, chunk[ring.ReduceSend(0)]);  // of one input so far: mine
  for (int s = 0; s < ring.steps(); ++s) {
    const MutableBuffer own = Part(input, chunk[ring.ReduceRecv(s)]);
    MutableBuffer arriving = scratch.halves[s % 2].Get(own.type(), own.count());
    HVDX_RETURN_IF_ERROR(SendAndReduce(team, ring.right(), sums, ring.left(), arriving, own, op));
    sums = std::move(arriving);
  }
  if (ring.steps() > 0) return sums;
  MutableBuffer copy = scratch.halves[0].Get(input.type(), input.count());
  Copy(copy, input);
  return copy;
}

Status GatherPass(Team& team, const MutableBuffer& buffer, const ChunkPlan& chunk) {
  const RingPattern ring(team.rank(), team.size());
  for (int s = 0; s < ring.steps(); ++s) {
    HVDX_RETURN_IF_ERROR(SendAndCopy(team, ring.right(), Part(buffer, chunk[ring.GatherSend(s)]),
                                     ring.left(), Part(buffer, chunk[ring.GatherRecv(s)])));
  }
  return Status::Ok();
}

}  // namespace horovodx::collectives

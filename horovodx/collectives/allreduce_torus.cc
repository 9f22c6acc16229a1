#include "horovodx/collectives/allreduce_torus.h"

#include "horovodx/collectives/patterns/torus.h"

namespace horovodx::collectives {

Status AllreduceTorus(Team& team, const MutableBuffer& buffer, ReduceOp op) {
  const TorusPattern torus(team.hosts());
  Team row = team.Sub(torus.RowOf(team.rank()));
  Team column = team.Sub(torus.ColumnOf(team.rank()));
  const std::size_t elements = SliceBytes(column.size()) / SizeOf(buffer.type());
  const WindowPlan windows(buffer.count(), elements * static_cast<std::size_t>(row.size()));
  RingScratch scratch;
  for (std::size_t w = 0; w < windows.windows(); ++w) {
    const MutableBuffer window = Part(buffer, windows[w]);
    const ChunkPlan chunk(window.count(), row.size());
    HVDX_ASSIGN_OR_RETURN(const MutableBuffer sums, ReducePass(row, window, chunk, op, scratch));
    HVDX_RETURN_IF_ERROR(AllreduceRing(column, sums, op));
    Copy(Part(window, chunk[row.rank()]), sums);
    HVDX_RETURN_IF_ERROR(GatherPass(row, window, chunk));
  }
  return Status::Ok();
}

}  // namespace horovodx::collectives

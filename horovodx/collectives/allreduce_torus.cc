#include "horovodx/collectives/allreduce_torus.h"

#include "horovodx/collectives/patterns/torus.h"
#include "horovodx/collectives/rows_and_columns.h"

namespace horovodx::collectives {

Status AllreduceTorus(Team& team, const MutableBuffer& buffer, ReduceOp op) {
  const TorusPattern torus(team.hosts());
  Team row = team.Sub(torus.RowOf(team.rank()));
  const Team column = team.Sub(torus.ColumnOf(team.rank()));
  RowsAndColumns how;
  const auto columns = static_cast<std::size_t>(row.size());
  const std::size_t unit = SizeOf(buffer.type());
  const std::size_t share = buffer.count() * unit / columns;
  how.window_elements = SliceBytes(column.size(), share, team.SegmentOr(0)) / unit * columns;
  how.chunks = [&row](std::size_t count) { return ChunkPlan(count, row.size()); };
  how.add_rings = [&](std::size_t, const MutableBuffer& sums, RingStrand& rings) {
    rings.Add(team.Sub(torus.ColumnOf(team.rank())), sums);
  };
  return AllreduceInRowsAndColumns(row, buffer, op, how);
}

}  // namespace horovodx::collectives

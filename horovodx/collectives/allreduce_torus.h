// 2D torus allreduce: afterwards every rank holds op over all.
//
// Ranks in r rows of c columns; rows are hosts where that is even, else the factors of n nearest to
// each other (patterns/torus.h). Streamed in windows: reduce-scatter round the row, ring over my
// chunk in the column, gather round the row. A rank sends 2 * bytes * (c-1)/c in its row and
// 2 * bytes/c * (r-1)/r in its column, together the same as one ring, in 2(c-1) + 2(r-1) messages a
// window instead of 2(n-1): pays for large buffers on many hosts. A prime n is one row, a ring.
//
// Partial sums: in scratch (at most about 5 MiB, whatever the count). Only finished sums are
// written to the buffer.
//
// Thread: the caller's; blocks until done. `buffer` is borrowed for the call.
#pragma once

#include <cstddef>

#include "horovodx/base/status.h"
#include "horovodx/collectives/allreduce_hierarchical_slices.h"
#include "horovodx/collectives/buffer.h"
#include "horovodx/collectives/cost.h"
#include "horovodx/collectives/team.h"
#include "kernels/types.h"

namespace horovodx::collectives {

[[nodiscard]] Status AllreduceTorus(Team& team, const MutableBuffer& buffer, ReduceOp op);

constexpr Cost CostOfTorus(int rows, int columns, std::size_t bytes) {
  return CostOfWindowsInRows(rows, columns, bytes);
}

}  // namespace horovodx::collectives

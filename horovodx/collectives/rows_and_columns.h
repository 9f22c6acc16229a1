// Allreduce in rows and columns: what hierarchical by slices and the torus share.
//
// The buffer is streamed in windows: reduce-scatter round the row, a ring in the column for what I
// am responsible for, gather round the row. While the rings of one window travel, the rows of its
// neighbours work: with rows inside hosts the network never waits for the adding up inside.
//
//   row      R0 R1 G0 R2 G1 R3 G2 ...      (R: reduce-scatter, G: gather)
//   columns     0  1     2     3  ...
//
// R(w+2) comes after G(w), so two windows' sums are kept. On each link the order is the same on all
// ranks, and nothing waits for what comes later: no two ranks wait for each other.
//
// Thread: the caller's; blocks until done. Everything is borrowed for the call.
#pragma once

#include <cstddef>
#include <functional>

#include "horovodx/base/status.h"
#include "horovodx/collectives/buffer.h"
#include "horovodx/collectives/exchange.h"
#include "horovodx/collectives/patterns/chunks.h"
#include "horovodx/collectives/ring_strand.h"
#include "horovodx/collectives/team.h"
#include "kernels/types.h"

namespace horovodx::collectives {

struct RowsAndColumns {
  std::size_t window_elements = 0;
  // How a window of so many elements is spread over the row.
  std::function<ChunkPlan(std::size_t count)> chunks;
  // Adds the rings for my chunk, whose row has summed it up in `sums`.
  std::function<void(std::size_t window_count, const MutableBuffer& sums, RingStrand& columns)>
      add_rings;
};

Status AllreduceInRowsAndColumns(Team& row, const MutableBuffer& buffer, ReduceOp op,
                                 const RowsAndColumns& how);

}  // namespace horovodx::collectives

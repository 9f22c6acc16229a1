// Hierarchical allreduce by slices: afterwards every rank holds op over all.
//
// The buffer is streamed in windows. Each window is reduce-scattered round a ring inside each host,
// so that every rank of the host is responsible for a slice; the ranks responsible for the same
// slice on all h hosts run a ring; finished slices are gathered round the host. With l ranks on
// each host a rank sends 2 * bytes * (l-1)/l inside its host and 2 * bytes/l * (h-1)/h to another,
// in 2(l-1) + 2(h-1) messages a window, where they are long twice as many between hosts: all ranks
// of a host share its network, and a byte crosses it as rarely as possible. Windows overlap
// (rows_and_columns.h). Pays for large buffers and several ranks a host.
//
// Hosts may differ: there are as many slices as the largest host has ranks, and a rank of a smaller
// host is responsible for several, one after another.
//
// Partial sums: in scratch (at most about 5 MiB, or 12 MiB with segments asked for, whatever the
// count). Only finished sums are written to the buffer.
//
// Thread: the caller's; blocks until done. `buffer` is borrowed for the call.
#pragma once

#include <algorithm>
#include <cstddef>

#include "horovodx/base/status.h"
#include "horovodx/collectives/buffer.h"
#include "horovodx/collectives/cost.h"
#include "horovodx/collectives/ring_passes.h"
#include "horovodx/collectives/ring_strand.h"
#include "horovodx/collectives/team.h"
#include "kernels/types.h"

namespace horovodx::collectives {

[[nodiscard]] Status AllreduceHierarchicalSlices(Team& team, const MutableBuffer& buffer,
                                                 ReduceOp op);

// What one rank is responsible for in one window, of `share` bytes in all: windows enough for their
// stages to overlap, messages of 32 KiB or more in a ring over `rings` ranks, in bounds that suit
// the cache and the scratch. With a wish for segments (segment.h): so that a ring sends those.
constexpr std::size_t SliceBytes(int rings, std::size_t share, std::size_t segment = 0) {
  if (segment > 0) return std::min<std::size_t>(segment * static_cast<std::size_t>(rings), 2 << 20);
  const std::size_t least = std::min<std::size_t>(static_cast<std::size_t>(rings) << 16, 1 << 20);
  const std::size_t pages = share / 8 / 4096 * 4096;
  return std::clamp<std::size_t>(pages, least, std::max<std::size_t>(least, 512 << 10));
}

// Of a window of `bytes`: passes in rows, a ring in columns. Also the torus's.
constexpr Cost CostOfRowsAndColumns(int rows, int columns, std::size_t bytes) {
  return CostOfRingPass(columns, bytes) +
         CostOfRingStrand(rows, bytes / static_cast<std::size_t>(columns)) +
         CostOfRingPass(columns, bytes);
}

// Windows of at most SliceBytes(rows) a column, one after another.
constexpr Cost CostOfWindowsInRows(int rows, int columns, std::size_t bytes) {
  const auto across = static_cast<std::size_t>(columns);
  const std::size_t window = SliceBytes(rows, bytes / across) * across;
  Cost cost;
  for (std::size_t done = 0; done == 0 || done < bytes; done += window) {
    cost = cost + CostOfRowsAndColumns(rows, columns, std::min(window, bytes - done));
  }
  return cost;
}

// Hosts of equal size.
constexpr Cost CostOfHierarchicalSlices(int ranks, int hosts, std::size_t bytes) {
  return CostOfWindowsInRows(hosts, ranks / hosts, bytes);
}

}  // namespace horovodx::collectives

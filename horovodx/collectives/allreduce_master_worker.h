// Master and workers: afterwards every rank holds op over all.
//
// Rank 0 receives everybody's buffer, one after another in rank order, adds it up and sends the
// result to everybody. Rank 0 sends n-1 messages of all bytes and receives as many (in pieces of at
// most 1 MiB): 2(n-1) steps of all bytes. The plainest there is, for reference and teaching.
//
// Partial sums: in the buffer (of rank 0). Scratch: at most 1 MiB.
//
// Thread: the caller's; blocks until done. `buffer` is borrowed for the call.
#pragma once

#include <algorithm>
#include <cstddef>

#include "horovodx/base/status.h"
#include "horovodx/collectives/buffer.h"
#include "horovodx/collectives/cost.h"
#include "horovodx/collectives/exchange.h"
#include "horovodx/collectives/team.h"
#include "kernels/types.h"

namespace horovodx::collectives {

[[nodiscard]] Status AllreduceMasterWorker(Team& team, const MutableBuffer& buffer, ReduceOp op);

constexpr Cost CostOfMasterWorker(int ranks, std::size_t bytes) {
  const auto workers = static_cast<std::uint64_t>(ranks - 1);
  const double sent = static_cast<double>(bytes) * static_cast<double>(workers);
  if (workers == 0) return {};
  const std::uint64_t up = CountOf(bytes, kMessageBytes);
  return {workers * (up + 1), 2 * sent, std::max(workers, up), sent};
}

}  // namespace horovodx::collectives

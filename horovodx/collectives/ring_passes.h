// The two passes of a ring: chunks travel round gathering sums, finished chunks travel round again.
//
// Partial sums live in scratch: what comes from the left is received there, my own contribution is
// added to it there, and from there it is sent on. The input is only read.
//
// Thread: the team's; blocks until done. Buffers are borrowed for the call.
#pragma once

#include <cstddef>

#include "horovodx/base/status.h"
#include "horovodx/collectives/buffer.h"
#include "horovodx/collectives/cost.h"
#include "horovodx/collectives/exchange.h"
#include "horovodx/collectives/patterns/chunks.h"
#include "horovodx/collectives/team.h"

namespace horovodx::collectives {

// One half is received into while the other is sent from. Grows to twice the longest chunk.
struct RingScratch {
  Scratch halves[2];
};

// My chunk of the input (chunk[rank], finished: the sum over all ranks), in one piece in `scratch`
// until that is used again. n-1 messages, all chunks but one sent. Alone: a copy of the input.
Result<MutableBuffer> ReducePass(Team& team, const MutableBuffer& input, const ChunkPlan& chunk,
                                 ReduceOp op, RingScratch& scratch);

// From my chunk of the buffer to everybody's. n-1 messages, all chunks but one sent.
Status GatherPass(Team& team, const MutableBuffer& buffer, const ChunkPlan& chunk);

// Of one of the passes, over `bytes` in all.
constexpr Cost CostOfRingPass(int ranks, std::size_t bytes) {
  const auto steps = static_cast<std::uint64_t>(ranks - 1);
  const double sent = Share(bytes, ranks - 1, ranks);
  return {steps, sent, steps, sent};
}

}  // namespace horovodx::collectives

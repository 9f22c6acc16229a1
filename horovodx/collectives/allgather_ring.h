// Ring allgather: afterwards every rank holds every rank's block. For large blocks, also uneven.
//
// Each rank sends its own block to its right neighbour, then whatever came from the left, until
// every block has been all the way round. Blocks travel in segments, so a single large block among
// small ones moves along the whole ring at once. Per rank: all bytes except the right neighbour's
// block, in one message a segment (an empty block is one empty message: nobody is done before
// everybody has come). With n equal blocks of b bytes, b <= segment: n-1 messages, (n-1)·b bytes,
// in n-1 steps; the time is that of the total, whatever the sizes.
//
// Thread: the caller's; blocks until done, the interrupt is raised or a time limit passes. Memory
// is borrowed for the call. No scratch.
#pragma once

#include <span>

#include "horovodx/base/bytes.h"
#include "horovodx/base/status.h"
#include "horovodx/collectives/patterns/blocks.h"
#include "horovodx/collectives/team.h"

namespace horovodx::collectives {

inline constexpr std::size_t kAllgatherSegmentBytes = 1 << 20;

// `blocks` (the same on all ranks) are byte ranges of `out`; mine is already in place. `out` may
// lie in several pieces: tensors that travel together are listed rank by rank.
[[nodiscard]] Status AllgatherRing(Team& team, const Blocks& blocks,
                                   std::span<const MutableBytes> out,
                                   std::size_t segment_bytes = kAllgatherSegmentBytes);
[[nodiscard]] inline Status AllgatherRing(Team& team, const Blocks& blocks, MutableBytes out) {
  return AllgatherRing(team, blocks, std::span<const MutableBytes>(&out, 1));
}

// What `rank` sends.
Traffic CostOfAllgatherRing(const Blocks& blocks, int rank,
                            std::size_t segment_bytes = kAllgatherSegmentBytes);

}  // namespace horovodx::collectives

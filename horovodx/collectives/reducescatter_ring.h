// Ring reducescatter: afterwards each rank holds op(x_0, ..., x_{n-1}) of its block. For large
// inputs: every rank talks to its neighbours only.
//
// The sum of block c sets out at rank c+1, goes round, each rank adding its own on the way, and
// ends at rank c: the order of summation is the rank order beginning behind the owner, whatever
// the sizes and whoever came first (reducescatter_pairwise.h has the same order, hence the same
// bits; only 16-bit floats, rounded here at every rank, differ). Long blocks go in windows, so that
// partial sums need two windows of scratch and the input stays as it is. Per rank: all bytes except
// its own block's, in (n-1)·ceil(largest block / window) messages, at least n-1; as many steps.
//
// Thread: the caller's; blocks until done, the interrupt is raised or a time limit passes. Memory
// is borrowed for the call. Scratch: three windows at most.
#pragma once

#include "horovodx/base/status.h"
#include "horovodx/collectives/buffer.h"
#include "horovodx/collectives/patterns/blocks.h"
#include "horovodx/collectives/reducescatter_contribution.h"
#include "horovodx/collectives/team.h"

namespace horovodx::collectives {

inline constexpr std::size_t kRingWindowBytes = 256 << 10;

// `blocks` (the same on all ranks) are element ranges of `in`; block r is for rank r (Blocks::Rows
// deals out rows as evenly as can be). `in` is not written. `out` is as long as my block, apart
// from `in`. Both may lie in several pieces: tensors that travel together are listed rank by rank.
[[nodiscard]] Status ReducescatterRing(Team& team, const MutableBuffer& in, const Blocks& blocks,
                                       const MutableBuffer& out, const Reduction& reduction = {},
                                       std::size_t window_bytes = kRingWindowBytes);

// What `rank` sends.
Traffic CostOfReducescatterRing(const Blocks& blocks, ElementType type, int rank,
                                std::size_t window_bytes = kRingWindowBytes);

}  // namespace horovodx::collectives

// Pairwise reducescatter: afterwards each rank holds op(x_0, ..., x_{n-1}) of its block. For small
// inputs, and where every pair of ranks has a good link.
//
// Each rank sends every other straight what it has for it (as alltoall_pairwise.h does), and adds
// up all that came in one pass, in the rank order beginning behind itself: the same order, hence
// the same bits, as reducescatter_ring.h, whoever came first; 16-bit floats are rounded once. Long
// blocks go in windows, so that scratch stays bounded; the input stays as it is. Per rank: all
// bytes except its own block's, in (n-1)·ceil(largest block / window) messages, at least n-1.
// No step waits for an earlier one's sum, so small inputs take little more than one latency.
//
// Thread: the caller's; blocks until done, the interrupt is raised or a time limit passes. Memory
// is borrowed for the call. Scratch: n+1 windows, about 2 MiB (16 KiB a rank beyond 128 ranks).
#pragma once

#include "horovodx/base/status.h"
#include "horovodx/collectives/buffer.h"
#include "horovodx/collectives/patterns/blocks.h"
#include "horovodx/collectives/reducescatter_contribution.h"
#include "horovodx/collectives/team.h"

namespace horovodx::collectives {

// Arguments as for ReducescatterRing.
[[nodiscard]] Status ReducescatterPairwise(Team& team, const MutableBuffer& in,
                                           const Blocks& blocks, const MutableBuffer& out,
                                           const Reduction& reduction = {});

// What `rank` sends.
Traffic CostOfReducescatterPairwise(const Blocks& blocks, ElementType type, int rank);

}  // namespace horovodx::collectives

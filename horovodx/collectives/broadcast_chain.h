// Chain broadcast: afterwards every rank holds what the root held. For large buffers.
//
// The ranks form a chain that begins at the root; the buffer flows along it in segments, each rank
// passing on one segment while it receives the next. Per rank (but the last, who sends nothing):
// all bytes once, in ceil(bytes / segment) messages (at least one). Steps: n-2 + the number of
// segments, so the time of one transfer once the buffer is many segments long, however many ranks.
//
// Thread: the caller's; blocks until done, the interrupt is raised or a time limit passes. Memory
// is borrowed for the call. No scratch.
#pragma once

#include <span>

#include "horovodx/base/bytes.h"
#include "horovodx/base/status.h"
#include "horovodx/collectives/team.h"

namespace horovodx::collectives {

inline constexpr std::size_t kChainSegmentBytes = 256 << 10;

// The pieces together are as long on every rank; where one ends and the next begins may differ.
[[nodiscard]] Status BroadcastChain(Team& team, int root, std::span<const MutableBytes> buffer,
                                    std::size_t segment_bytes = kChainSegmentBytes);

// What `rank` sends of a buffer of `bytes`.
Traffic CostOfBroadcastChain(std::size_t bytes, int ranks, int root, int rank,
                             std::size_t segment_bytes = kChainSegmentBytes);

}  // namespace horovodx::collectives

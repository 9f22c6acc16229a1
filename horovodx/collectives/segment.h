// Segments: how much of a bucket an allreduce over links sends in one message. Pure.
//
// Each algorithm has a size of its own; a bucket may ask for another one, the same on all ranks.
// Powers of two, so that a segment holds a whole number of elements of any type.
#pragma once

#include <bit>
#include <cstddef>

namespace horovodx::collectives {

inline constexpr std::size_t kLeastSegment = 64 << 10;
inline constexpr std::size_t kMostSegment = 2 << 20;

// 0: each algorithm's own.
constexpr bool IsSegment(std::size_t bytes) {
  return bytes == 0 ||
         (std::has_single_bit(bytes) && bytes >= kLeastSegment && bytes <= kMostSegment);
}

}  // namespace horovodx::collectives

// Sizes of shapes that may come from anywhere: nothing overflows, it saturates. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "horovodx/negotiation/message.h"

namespace horovodx::negotiation {

inline constexpr std::uint64_t kMostElements = std::uint64_t{1} << 62;

// Product of the dimensions from `first` on, at most kMostElements. Negative dimensions count as 0.
std::uint64_t ElementsOf(const std::vector<std::int64_t>& shape, std::size_t first = 0);

// No dimension is negative and the bytes fit a signed 64-bit number.
bool IsShape(const std::vector<std::int64_t>& shape);

std::string ToString(const std::vector<std::int64_t>& shape);  // "[2, 3]"

// Bytes one collective moves for this bucket: all entries, for gathers the parts of all members.
std::uint64_t BytesMoved(const Bucket& bucket);

}  // namespace horovodx::negotiation

// Views of raw memory, and lists of them.
#pragma once

#include <cstddef>
#include <span>

namespace horovodx {

using ConstBytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

inline ConstBytes BytesOf(const void* data, std::size_t size) {
  return {static_cast<const std::byte*>(data), size};
}
inline MutableBytes MutableBytesOf(void* data, std::size_t size) {
  return {static_cast<std::byte*>(data), size};
}

}  // namespace horovodx

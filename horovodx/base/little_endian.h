// Integers as little-endian bytes: how every message of ours writes them.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace horovodx {

template <std::integral T>
void PutLittle(T value, std::byte* to) {
  auto bits = static_cast<std::make_unsigned_t<T>>(value);
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    to[i] = static_cast<std::byte>(static_cast<unsigned long long>(bits) >> (8 * i));
  }
}

template <std::integral T>
T GetLittle(const std::byte* from) {
  unsigned long long bits = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bits |= static_cast<unsigned long long>(from[i]) << (8 * i);
  }
  return static_cast<T>(bits);
}

}  // namespace horovodx

// Appends numbers, texts and lists to bytes, little-endian. Pure.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "horovodx/base/bytes.h"

namespace horovodx::negotiation {

class WireWriter {
 public:
  template <std::integral T>
  void Number(T value) {
    auto bits = static_cast<std::make_unsigned_t<T>>(value);
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      bytes_.push_back(static_cast<std::byte>(bits & 0xff));
      bits = static_cast<decltype(bits)>(sizeof(T) > 1 ? bits >> (sizeof(T) > 1 ? 8 : 0) : 0);
    }
  }
  void Real(double value) { Number(std::bit_cast<std::uint64_t>(value)); }
  void Text(const std::string& text) {
    Number(static_cast<std::uint32_t>(text.size()));
    const ConstBytes view = BytesOf(text.data(), text.size());
    bytes_.insert(bytes_.end(), view.begin(), view.end());
  }
  template <std::integral T>
  void Numbers(const std::vector<T>& values) {
    List(values, [this](T value) { Number(value); });
  }
  template <typename T, typename Each>
  void List(const std::vector<T>& items, Each each) {
    Number(static_cast<std::uint32_t>(items.size()));
    for (const T& item : items) each(item);
  }

  std::vector<std::byte> Take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace horovodx::negotiation

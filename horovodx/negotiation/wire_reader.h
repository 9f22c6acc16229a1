// Reads what WireWriter wrote, from bytes that may be anything. The first mistake sticks: from then
// on everything reads as nothing, and status() says what and where. Pure.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include "horovodx/base/bytes.h"
#include "horovodx/base/status.h"

namespace horovodx::negotiation {

class WireReader {
 public:
  explicit WireReader(ConstBytes bytes) : bytes_(bytes) {}

  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }
  void Fail(const std::string& what);

  template <std::integral T>
  T Number() {
    using Bits = std::make_unsigned_t<T>;
    if (!Need(sizeof(T), "a number")) return T{};
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      bits |= std::to_integer<std::uint64_t>(bytes_[at_ + i]) << (8 * i);
    }
    at_ += sizeof(T);
    return static_cast<T>(static_cast<Bits>(bits));
  }
  double Real() { return std::bit_cast<double>(Number<std::uint64_t>()); }
  std::string Text();
  // A number below `limit`, as an enumeration.
  template <typename Enum>
  Enum OneOf(int limit, const char* what) {
    const auto value = Number<std::uint8_t>();
    if (ok() && value >= limit) Fail(what);
    return static_cast<Enum>(ok() ? value : 0);
  }
  template <std::integral T>
  std::vector<T> Numbers() {
    return List<T>(sizeof(T), [this] { return Number<T>(); });
  }
  // `least`: bytes an item needs at least, which bounds the count before anything is allocated.
  template <typename T, typename Each>
  std::vector<T> List(std::size_t least, Each each) {
    std::vector<T> items;
    const auto count = Number<std::uint32_t>();
    if (!ok() || !Need(count * static_cast<std::uint64_t>(least), "a list")) return items;
    items.reserve(count);
    for (std::uint32_t i = 0; i < count && ok(); ++i) items.push_back(each());
    return items;
  }
  // Fails if anything is left.
  void End();

 private:
  bool Need(std::uint64_t count, const char* what);

  ConstBytes bytes_;
  std::size_t at_ = 0;
  Status status_;
};

}  // namespace horovodx::negotiation

// Buffers beyond 2^31 bytes, for tests that run only where they are fast.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "horovodx/base/bytes.h"
#include "tests/horovodx/collectives/gather_support.h"

namespace horovodx::testing_support {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) || !defined(NDEBUG)
inline constexpr bool kRoomForLarge = false;
#else
inline constexpr bool kRoomForLarge = true;
#endif

inline transport::loopback::WorldOptions WideLinks() { return {.ring_bytes = 1 << 20}; }

// More than 2 GiB that take little memory: one region over and over, then a tail of its own. The
// region's odd length lets a length cut to 32 bits, or a byte lost, show up as a shift.
class LargeBuffer {
 public:
  LargeBuffer() : region_(kRegion), tail_(kTail) {
    for (std::size_t i = 0; i < kTimes; ++i) pieces_.emplace_back(region_);
    pieces_.emplace_back(tail_);
  }
  static constexpr std::size_t size() { return kTimes * kRegion + kTail; }
  const std::vector<MutableBytes>& pieces() const { return pieces_; }

  void Fill() {
    for (std::size_t i = 0; i < kRegion; ++i) region_[i] = Content(1, i);
    for (std::size_t i = 0; i < kTail; ++i) tail_[i] = Content(2, i);
  }
  bool operator==(const LargeBuffer& other) const {
    return region_ == other.region_ && tail_ == other.tail_;
  }

 private:
  static constexpr std::size_t kTimes = 129;
  static constexpr std::size_t kRegion = (16 << 20) + 13;
  static constexpr std::size_t kTail = 4099;
  static_assert(kTimes * kRegion > (std::size_t{1} << 31));

  std::vector<std::byte> region_;
  std::vector<std::byte> tail_;
  std::vector<MutableBytes> pieces_;
};

}  // namespace horovodx::testing_support

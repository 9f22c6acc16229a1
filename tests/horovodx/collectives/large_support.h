// Buffers beyond 2^31 bytes, for tests that run only where they are fast.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "horovodx/base/bytes.h"
#include "horovodx/base/fd.h"
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

// A long range of zeros that takes little memory: all blocks between the first and the last two are
// the same one. What is written there must be zeros again.
class MostlyZeros {
 public:
  explicit MostlyZeros(std::size_t bytes)
      : blocks_(bytes / kBlock + 1),
        block_(::memfd_create("zeros", 0)),
        memory_(Map(nullptr, blocks_ * kBlock, MAP_PRIVATE | MAP_ANONYMOUS, -1)) {
    ok_ = block_.get() >= 0 && ::ftruncate(block_.get(), kBlock) == 0 && memory_ != MAP_FAILED;
    for (std::size_t b = 1; ok_ && b + 2 < blocks_; ++b) {
      ok_ = Map(data() + b * kBlock, kBlock, MAP_SHARED | MAP_FIXED, block_.get()) != MAP_FAILED;
    }
  }
  ~MostlyZeros() { ::munmap(memory_, blocks_ * kBlock); }
  MostlyZeros(const MostlyZeros&) = delete;
  MostlyZeros& operator=(const MostlyZeros&) = delete;

  bool ok() const { return ok_; }
  std::uint8_t* data() const { return static_cast<std::uint8_t*>(memory_); }

 private:
  static constexpr std::size_t kBlock = 4 << 20;
  static void* Map(void* at, std::size_t bytes, int flags, int fd) {
    return ::mmap(at, bytes, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, fd, 0);
  }

  std::size_t blocks_;
  Fd block_;
  void* memory_;
  bool ok_ = false;
};

// More than 2^31 bytes: `value` at some places, the last ones beyond 2^31, and zeros elsewhere.
class LargeCounts {
 public:
  static constexpr std::size_t kCount = (std::size_t{1} << 31) + 7;

  explicit LargeCounts(int value, std::size_t count = kCount) : count_(count), zeros_(count) {
    if (!zeros_.ok() || value == 0) return;
    for (std::size_t at : Places()) data()[at] = static_cast<std::uint8_t>(value);
  }
  bool ok() const { return zeros_.ok(); }
  std::uint8_t* data() const { return zeros_.data(); }
  std::size_t count() const { return count_; }
  // `thoroughly`: and zeros everywhere else, which takes a second.
  bool Hold(int value, bool thoroughly = true) const {
    const auto places = Places();
    const bool all = std::all_of(places.begin(), places.end(),
                                 [&](std::size_t at) { return data()[at] == value; });
    if (!thoroughly) return all;
    const auto zeros = static_cast<std::size_t>(std::count(data(), data() + count_, 0));
    return all && zeros == count_ - places.size();
  }

 private:
  std::vector<std::size_t> Places() const {
    return {0, 6, (std::size_t{1} << 31) - 1, std::size_t{1} << 31, count_ - 1};
  }

  std::size_t count_;
  MostlyZeros zeros_;
};

}  // namespace horovodx::testing_support

// ByteRing: one writer, one reader, a ring of bytes in memory both can see (threads or processes).
//
// The two counters only grow; their difference is what is in the ring. All-zero memory is an empty
// ring, so a fresh mapping needs no set-up.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "horovodx/base/bytes.h"

namespace horovodx::transport {

class ByteRing {
 public:
  struct Counters {
    alignas(64) std::atomic<std::uint64_t> written{0};
    alignas(64) std::atomic<std::uint64_t> read{0};
  };

  ByteRing() = default;
  // `capacity` bytes at `data`. Both stay where they are for the ring's life.
  ByteRing(Counters* counters, std::byte* data, std::size_t capacity)
      : counters_(counters), data_(data), capacity_(capacity) {}

  // Writer: takes what fits, returns how much.
  std::size_t Write(std::span<const ConstBytes> pieces);
  std::size_t room() const;
  // Reader: gives what is there, returns how much.
  std::size_t Read(std::span<const MutableBytes> pieces);
  std::size_t filled() const;

 private:
  Counters* counters_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t capacity_ = 0;
};

}  // namespace horovodx::transport

#include "horovodx/transport/byte_ring.h"

#include <algorithm>
#include <cstring>

namespace horovodx::transport {

std::size_t ByteRing::room() const {
  // The acquire pairs with the reader's release: the bytes it has read may be overwritten.
  return capacity_ - (counters_->written.load(std::memory_order_relaxed) -
                      counters_->read.load(std::memory_order_acquire));
}

std::size_t ByteRing::filled() const {
  // The acquire pairs with the writer's release: the bytes it has written may be read.
  return counters_->written.load(std::memory_order_acquire) -
         counters_->read.load(std::memory_order_relaxed);
}

std::size_t ByteRing::Write(std::span<const ConstBytes> pieces) {
  std::size_t left = room();
  std::uint64_t at = counters_->written.load(std::memory_order_relaxed);
  const std::uint64_t start = at;
  for (ConstBytes piece : pieces) {
    while (!piece.empty() && left > 0) {
      const std::size_t offset = at % capacity_;
      const std::size_t run = std::min({piece.size(), left, capacity_ - offset});
      std::memcpy(data_ + offset, piece.data(), run);
      piece = piece.subspan(run);
      at += run;
      left -= run;
    }
    if (left == 0) break;
  }
  counters_->written.store(at, std::memory_order_release);
  return at - start;
}

std::size_t ByteRing::Read(std::span<const MutableBytes> pieces) {
  std::size_t left = filled();
  std::uint64_t at = counters_->read.load(std::memory_order_relaxed);
  const std::uint64_t start = at;
  for (MutableBytes piece : pieces) {
    while (!piece.empty() && left > 0) {
      const std::size_t offset = at % capacity_;
      const std::size_t run = std::min({piece.size(), left, capacity_ - offset});
      std::memcpy(piece.data(), data_ + offset, run);
      piece = piece.subspan(run);
      at += run;
      left -= run;
    }
    if (left == 0) break;
  }
  counters_->read.store(at, std::memory_order_release);
  return at - start;
}

}  // namespace horovodx::transport

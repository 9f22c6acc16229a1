// How a link's bytes go over its sockets, and how lists of pieces become what the kernel takes.
// Pure.
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace horovodx::transport::tcp {

// Blocks of this many bytes go round the sockets in order. Part of the protocol.
inline constexpr std::size_t kStripeBytes = 256 * 1024;

// Which of `streams` sockets carries byte `position` of a link.
constexpr std::size_t StreamOf(std::uint64_t position, std::size_t streams) {
  return static_cast<std::size_t>(position / kStripeBytes % streams);
}
// How many bytes from `position` on go over that same socket.
constexpr std::size_t RoomAt(std::uint64_t position) {
  return kStripeBytes - static_cast<std::size_t>(position % kStripeBytes);
}

// A place in a list of pieces (ConstBytes or MutableBytes).
template <typename Piece>
class PieceCursor {
 public:
  explicit PieceCursor(std::span<const Piece> pieces) : pieces_(pieces) { SkipEmpty(); }

  bool done() const { return pieces_.empty(); }
  // The next pieces, at most `most` bytes of them, for one system call.
  std::span<iovec> Next(std::size_t most) {
    std::size_t count = 0;
    std::size_t offset = offset_;
    bytes_ = 0;
    for (const Piece& piece : pieces_) {
      if (count == vector_.size() || bytes_ == most) break;
      const std::size_t size = std::min(piece.size() - offset, most - bytes_);
      // The kernel's type knows no const; a write only reads it.
      if (size > 0) vector_[count++] = {const_cast<std::byte*>(piece.data()) + offset, size};
      bytes_ += size;
      offset = 0;
    }
    return std::span(vector_).first(count);
  }
  // How many bytes the last Next offered.
  std::size_t offered() const { return bytes_; }
  void Advance(std::size_t bytes) {
    while (bytes > 0) {
      const std::size_t step = std::min(bytes, pieces_.front().size() - offset_);
      offset_ += step;
      bytes -= step;
      SkipEmpty();
    }
  }

 private:
  void SkipEmpty() {
    while (!pieces_.empty() && offset_ == pieces_.front().size()) {
      pieces_ = pieces_.subspan(1);
      offset_ = 0;
    }
  }

  std::span<const Piece> pieces_;
  std::size_t offset_ = 0;
  std::size_t bytes_ = 0;
  std::array<iovec, 64> vector_;
};

}  // namespace horovodx::transport::tcp

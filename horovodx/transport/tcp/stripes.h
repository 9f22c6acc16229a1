// How a link's bytes go over its sockets, and how lists of pieces become what the kernel takes.
// Pure.
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "horovodx/base/bytes.h"

namespace horovodx::transport::tcp {

// Blocks of this many bytes go round the sockets in order. Part of the protocol.
inline constexpr std::size_t kStripeBytes = 256 * 1024;

// Where a link stands among its sockets. Each block has a label before it, one byte that names the
// socket of the block after it; the first goes over socket 0. So the writer alone decides which
// sockets are in use, and the reader follows. One socket needs no labels and has no blocks.
class Stripes {
 public:
  explicit Stripes(std::size_t sockets = 1) : sockets_(sockets) {}

  // Of the next byte.
  std::size_t socket() const { return socket_; }
  // The next byte is a label.
  bool label_due() const { return sockets_ > 1 && room_ == 0; }
  // How many bytes of data, behind the label if one is due, go over that same socket.
  std::size_t room() const {
    if (sockets_ == 1) return std::numeric_limits<std::size_t>::max();
    return label_due() ? kStripeBytes : room_;
  }

  // The label has moved. False: there is no such socket.
  bool Begin(std::size_t next) {
    if (next >= sockets_) return false;
    next_ = next;
    room_ = kStripeBytes;
    return true;
  }
  // So many bytes of data have moved, at most room().
  void Moved(std::size_t bytes) {
    if (sockets_ == 1) return;
    room_ -= bytes;
    if (room_ == 0) socket_ = next_;
  }

 private:
  std::size_t sockets_;
  std::size_t socket_ = 0;
  std::size_t next_ = 0;
  std::size_t room_ = 0;  // of the block begun
};

// A place in a list of pieces (ConstBytes or MutableBytes).
template <typename Piece>
class PieceCursor {
 public:
  explicit PieceCursor(std::span<const Piece> pieces) : pieces_(pieces) { SkipEmpty(); }

  bool done() const { return pieces_.empty(); }
  // The next pieces, at most `most` bytes of them, for one system call; before them `label`, if it
  // is not empty.
  std::span<iovec> Next(std::size_t most, MutableBytes label = {}) {
    std::size_t count = 0;
    if (!label.empty()) vector_[count++] = {label.data(), label.size()};
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
  // How many bytes the last Next offered, besides the label.
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

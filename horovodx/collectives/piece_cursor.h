// PieceCursor: walks once over the virtual concatenation of a bucket's pieces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "kernels/pack.h"

namespace horovodx::collectives {

// Elements that lie next to each other. Null data: there is no memory behind it.
struct Stretch {
  std::byte* data;
  std::size_t count;
};

class PieceCursor {
 public:
  // The pieces are borrowed. Behind their end there are stretches of null without end.
  PieceCursor(std::span<const kernels::Piece> pieces, std::size_t element_bytes)
      : piece_(pieces.data()), end_(piece_ + pieces.size()), element_bytes_(element_bytes) {}

  // The next stretch, of at most `most` elements (> 0).
  Stretch Next(std::size_t most) {
    SkipEmpty();
    if (piece_ == end_) return {nullptr, most};
    const Stretch stretch{At(offset_), std::min(most, piece_->count - offset_)};
    offset_ += stretch.count;
    return stretch;
  }

  // Whether the next `count` elements (> 0) lie next to each other in memory.
  bool IsWhole(std::size_t count) {
    SkipEmpty();
    return piece_ != end_ && piece_->data != nullptr && piece_->count - offset_ >= count;
  }

  // Leaves `count` elements out.
  void Skip(std::size_t count) {
    while (count > 0) count -= Next(count).count;
  }

 private:
  void SkipEmpty() {
    while (piece_ != end_ && offset_ == piece_->count) {
      ++piece_;
      offset_ = 0;
    }
  }

  std::byte* At(std::size_t offset) const {
    if (piece_->data == nullptr) return nullptr;
    return static_cast<std::byte*>(piece_->data) + offset * element_bytes_;
  }

  const kernels::Piece* piece_;
  const kernels::Piece* end_;
  std::size_t offset_ = 0;  // into *piece_
  std::size_t element_bytes_;
};

}  // namespace horovodx::collectives

#include "horovodx/collectives/buffer.h"

#include <algorithm>
#include <utility>

namespace horovodx::collectives {

MutableBuffer::MutableBuffer(ElementType type, std::vector<kernels::Piece> pieces)
    : type_(type), count_(0), pieces_(std::move(pieces)) {
  for (const auto& piece : pieces_) count_ += piece.count;
}

MutableBuffer MutableBuffer::Slice(std::size_t begin, std::size_t count) const {
  std::vector<kernels::Piece> slice;
  std::size_t at = 0;
  for (const auto& piece : pieces_) {
    const std::size_t from = std::max(begin, at);
    const std::size_t to = std::min(begin + count, at + piece.count);
    if (from < to) {
      auto* data = static_cast<std::byte*>(piece.data) + (from - at) * SizeOf(type_);
      slice.push_back({data, to - from});
    }
    at += piece.count;
    if (at >= begin + count) break;
  }
  return MutableBuffer(type_, std::move(slice));
}

std::vector<ConstBytes> MutableBuffer::ToSend() const {
  std::vector<ConstBytes> spans;
  spans.reserve(pieces_.size());
  for (const auto& p : pieces_) spans.push_back(BytesOf(p.data, p.count * SizeOf(type_)));
  return spans;
}

std::vector<MutableBytes> MutableBuffer::ToReceive() const {
  std::vector<MutableBytes> spans;
  spans.reserve(pieces_.size());
  for (const auto& p : pieces_) spans.push_back(MutableBytesOf(p.data, p.count * SizeOf(type_)));
  return spans;
}

}  // namespace horovodx::collectives

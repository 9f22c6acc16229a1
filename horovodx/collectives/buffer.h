// MutableBuffer: the memory of a bucket, as one typed array that may lie in several pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "horovodx/base/bytes.h"
#include "kernels/pack.h"
#include "kernels/types.h"

namespace horovodx::collectives {

template <typename T>
constexpr ElementType ElementTypeOf() {
  if constexpr (std::is_same_v<T, std::uint8_t>) return ElementType::kUint8;
  if constexpr (std::is_same_v<T, std::int8_t>) return ElementType::kInt8;
  if constexpr (std::is_same_v<T, std::uint16_t>) return ElementType::kUint16;
  if constexpr (std::is_same_v<T, std::int16_t>) return ElementType::kInt16;
  if constexpr (std::is_same_v<T, std::int32_t>) return ElementType::kInt32;
  if constexpr (std::is_same_v<T, std::int64_t>) return ElementType::kInt64;
  if constexpr (std::is_same_v<T, float>) return ElementType::kFloat32;
  if constexpr (std::is_same_v<T, double>) return ElementType::kFloat64;
  if constexpr (std::is_same_v<T, bool>) return ElementType::kBool;
}

// A view; the memory is borrowed. Copying it copies the list of pieces, not the data.
class MutableBuffer {
 public:
  MutableBuffer(ElementType type, void* data, std::size_t count)
      : type_(type), count_(count), pieces_{{data, count}} {}
  MutableBuffer(ElementType type, std::vector<kernels::Piece> pieces);
  template <typename T>
  MutableBuffer(std::vector<T>& v)  // NOLINT: a vector is a buffer
      : MutableBuffer(ElementTypeOf<T>(), v.data(), v.size()) {}

  ElementType type() const { return type_; }
  std::size_t count() const { return count_; }  // elements
  std::size_t bytes() const { return count_ * SizeOf(type_); }
  const std::vector<kernels::Piece>& pieces() const { return pieces_; }
  bool contiguous() const { return pieces_.size() <= 1; }

  // Elements [begin, begin + count) as a buffer of their own. O(pieces).
  MutableBuffer Slice(std::size_t begin, std::size_t count) const;
  // The memory as byte spans, for links.
  std::vector<ConstBytes> ToSend() const;
  std::vector<MutableBytes> ToReceive() const;

 private:
  ElementType type_;
  std::size_t count_;
  std::vector<kernels::Piece> pieces_;
};

}  // namespace horovodx::collectives

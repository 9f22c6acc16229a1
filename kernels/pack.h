// Moving a virtual concatenation of tensors into one contiguous range, and back.
//
// A bucket is a list of pieces seen as one long array of elements. Pack and Unpack move any range
// [begin, begin + count) of that array, scaling or casting on the way, so a bucket can be streamed
// in segments that ignore where one tensor ends and the next begins.
//
// The range must lie within the pieces; pieces may be empty. Thread: any; no state. Cost: one pass
// over the range, and a look at each piece before it.
#pragma once

#include <cstddef>

#include "kernels/types.h"

namespace horovodx::kernels {

struct Piece {
  void* data = nullptr;
  std::size_t count = 0;  // elements
};

// to[0, count) = elements [begin, begin + count) of the pieces, each times `factor`, converted from
// `type` to `to_type` (a plain copy when both are equal and the factor is 1).
void Pack(ElementType to_type, void* to, ElementType type, const Piece* pieces,
          std::size_t piece_count, std::size_t begin, std::size_t count, double factor = 1.0);

// Elements [begin, begin + count) of the pieces = from[0, count), each times `factor`, converted
// from `from_type` to `type`.
void Unpack(ElementType type, const Piece* pieces, std::size_t piece_count, std::size_t begin,
            std::size_t count, ElementType from_type, const void* from, double factor = 1.0);

}  // namespace horovodx::kernels

#include "kernels/pack.h"

#include <algorithm>
#include <cassert>
#include <cstddef>

#include "kernels/cast.h"

namespace horovodx::kernels {
namespace {

// Calls f(memory, elements, elements before it) for each part of a piece that lies in
// [begin, begin + count) of the concatenation.
template <class F>
void ForEachPart(ElementType type, const Piece* pieces, std::size_t piece_count, std::size_t begin,
                 std::size_t count, F f) {
  const Piece* piece = pieces;
  const Piece* const end = pieces + piece_count;
  while (piece != end && begin >= piece->count) begin -= (piece++)->count;
  std::size_t done = 0;
  for (; done < count && piece != end; ++piece) {
    const std::size_t size = std::min(piece->count - begin, count - done);
    f(static_cast<std::byte*>(piece->data) + begin * SizeOf(type), size, done);
    done += size;
    begin = 0;
  }
  assert(done == count);  // the range lies within the pieces
}

}  // namespace

void Pack(ElementType to_type, void* to, ElementType type, const Piece* pieces,
          std::size_t piece_count, std::size_t begin, std::size_t count, double factor) {
  ForEachPart(type, pieces, piece_count, begin, count,
              [&](const std::byte* part, std::size_t size, std::size_t done) {
                std::byte* out = static_cast<std::byte*>(to) + done * SizeOf(to_type);
                Cast(to_type, out, type, part, size, factor);
              });
}

void Unpack(ElementType type, const Piece* pieces, std::size_t piece_count, std::size_t begin,
            std::size_t count, ElementType from_type, const void* from, double factor) {
  ForEachPart(type, pieces, piece_count, begin, count,
              [&](std::byte* part, std::size_t size, std::size_t done) {
                const std::byte* in =
                    static_cast<const std::byte*>(from) + done * SizeOf(from_type);
                Cast(type, part, from_type, in, size, factor);
              });
}

}  // namespace horovodx::kernels

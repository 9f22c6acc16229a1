// Ranks on the corners of a hypercube, for any number of ranks, and ranges halved along its edges.
// Pure.
//
// The cube has the largest power of two of corners that there are ranks for. The ranks left over
// are guests: of the first 2 * guests ranks every odd one is the guest of the even one before it,
// gives its input to it and gets the result from it.
#pragma once

#include <bit>
#include <cstddef>
#include <vector>

#include "horovodx/collectives/patterns/chunks.h"

namespace horovodx::collectives {

class HypercubePattern {
 public:
  constexpr HypercubePattern(int rank, int size)
      : rank_(rank), corners_(Corners(size)), guests_(size - corners_) {}

  static constexpr int Corners(int size) {
    return static_cast<int>(std::bit_floor(static_cast<unsigned>(size)));
  }
  static constexpr int Dimensions(int size) {
    return std::bit_width(static_cast<unsigned>(size)) - 1;
  }

  constexpr int dimensions() const { return Dimensions(corners_); }
  constexpr bool is_guest() const { return paired() && rank_ % 2 == 1; }
  constexpr bool has_guest() const { return paired() && rank_ % 2 == 0; }
  constexpr int guest() const { return rank_ + 1; }
  constexpr int host() const { return rank_ - 1; }

  constexpr int corner() const { return paired() ? rank_ / 2 : rank_ - guests_; }
  // The rank across my edge in dimension d; the edges of dimension 0 join the nearest ranks.
  constexpr int Neighbour(int d) const {
    const int other = corner() ^ (1 << d);
    return other < guests_ ? 2 * other : other + guests_;
  }

 private:
  constexpr bool paired() const { return rank_ < 2 * guests_; }

  int rank_;
  int corners_;
  int guests_;
};

// One level of recursive halving: of the range at hand, what I keep and what my neighbour keeps.
struct Halving {
  Chunk keep;
  Chunk give;
};

// Level d splits what is left in two, the first half being the shorter one; the corner whose bit d
// is clear keeps the first half. Walked backwards, the levels put the range together again.
inline std::vector<Halving> Halvings(std::size_t count, int corner, int dimensions) {
  std::vector<Halving> levels;
  Chunk range{0, count};
  for (int d = 0; d < dimensions; ++d) {
    const Chunk first{range.begin, range.count / 2};
    const Chunk second{first.end(), range.count - first.count};
    const bool keeps_second = ((corner >> d) & 1) != 0;
    levels.push_back(keeps_second ? Halving{second, first} : Halving{first, second});
    range = levels.back().keep;
  }
  return levels;
}

}  // namespace horovodx::collectives

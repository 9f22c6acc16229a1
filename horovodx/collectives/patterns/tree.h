// The binomial tree with rank 0 at its root. Pure.
//
// The parent of r is r without its lowest set bit, so the subtree of r is the ranks from r on up to
// the next one at its parent: ranks that are numbered host by host are also joined host by host.
#pragma once

#include <bit>
#include <vector>

namespace horovodx::collectives {

class TreePattern {
 public:
  constexpr TreePattern(int rank, int size) : rank_(rank), size_(size) {}

  // Levels between the root and the deepest rank.
  static constexpr int Depth(int size) {
    return std::bit_width(static_cast<unsigned>(size > 0 ? size - 1 : 0));
  }

  // Of any rank but the root.
  static constexpr int MostChildrenBelowRoot(int size) {
    int most = 0;
    for (int rank = 1; rank < size; rank *= 2) {
      int children = 0;
      for (int distance = 1; distance < rank && rank + distance < size; distance *= 2) ++children;
      most = children > most ? children : most;
    }
    return most;
  }

  constexpr bool is_root() const { return rank_ == 0; }
  constexpr int parent() const { return rank_ & (rank_ - 1); }
  // Nearest first: the smallest subtree, which is ready first when sums travel up.
  std::vector<int> children() const {
    std::vector<int> all;
    const int limit = is_root() ? size_ : rank_ & -rank_;
    for (int distance = 1; distance < limit && rank_ + distance < size_; distance *= 2) {
      all.push_back(rank_ + distance);
    }
    return all;
  }

 private:
  int rank_;
  int size_;
};

}  // namespace horovodx::collectives

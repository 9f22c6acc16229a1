// BinomialTree: the tree in which everybody who has the data passes it on in every step. Pure.
//
// Places are counted from the root (place 0). A place's parent is the place without its lowest set
// bit; it heads the subtree [place, place + span). The root reaches all n in ceil(log2 n) steps.
#pragma once

#include <vector>

namespace horovodx::collectives {

class BinomialTree {
 public:
  BinomialTree(int place, int size) : place_(place), size_(size) {
    while (span_ < size && (place & span_) == 0) span_ *= 2;
  }

  bool is_root() const { return place_ == 0; }
  int parent() const { return place_ - span_; }
  // The first place behind my subtree.
  int end() const { return EndOf(place_, span_); }

  struct Child {
    int place;
    int end;  // the first place behind its subtree
  };
  // The largest subtree first: it has the longest way to go.
  std::vector<Child> children() const {
    std::vector<Child> children;
    for (int half = span_ / 2; half > 0; half /= 2) {
      const int child = place_ + half;
      if (child < size_) children.push_back({child, EndOf(child, half)});
    }
    return children;
  }

 private:
  int EndOf(int place, int span) const { return place + span < size_ ? place + span : size_; }

  int place_;
  int size_;
  int span_ = 1;
};

}  // namespace horovodx::collectives

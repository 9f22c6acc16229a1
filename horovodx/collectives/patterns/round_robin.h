// Everybody meets everybody: in n-1 rounds, each sends to one and receives from one. Pure.
#pragma once

namespace horovodx::collectives {

class RoundRobinPattern {
 public:
  constexpr RoundRobinPattern(int rank, int size) : rank_(rank), size_(size) {}

  constexpr int rounds() const { return size_ - 1; }
  constexpr int To(int round) const { return (rank_ + 1 + round) % size_; }
  constexpr int From(int round) const { return (rank_ - 1 - round + size_) % size_; }

 private:
  int rank_;
  int size_;
};

}  // namespace horovodx::collectives

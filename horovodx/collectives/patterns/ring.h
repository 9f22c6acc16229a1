// Who sends which chunk to whom in a ring. Pure.
//
// Ranks sit in a circle, rank r sends to r+1. In the reducing pass chunk c sets out from rank c+1
// and gathers sums on its way to rank c, where it is finished; in the gathering pass the finished
// chunks travel round once more.
#pragma once

namespace horovodx::collectives {

class RingPattern {
 public:
  constexpr RingPattern(int rank, int size) : rank_(rank), size_(size) {}

  constexpr int steps() const { return size_ - 1; }  // of each pass
  constexpr int right() const { return Wrap(rank_ + 1); }
  constexpr int left() const { return Wrap(rank_ - 1); }

  // The chunk I send and the chunk I receive in step s. What I receive in one step is what I send
  // in the next; the last chunk received is my own, finished.
  constexpr int ReduceSend(int s) const { return Wrap(rank_ - 1 - s); }
  constexpr int ReduceRecv(int s) const { return Wrap(rank_ - 2 - s); }
  constexpr int GatherSend(int s) const { return Wrap(rank_ - s); }
  constexpr int GatherRecv(int s) const { return Wrap(rank_ - 1 - s); }

 private:
  // Steps reach back at most once round and one.
  constexpr int Wrap(int i) const { return (i + 2 * size_) % size_; }

  int rank_;
  int size_;
};

}  // namespace horovodx::collectives

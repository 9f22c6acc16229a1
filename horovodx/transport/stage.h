// Stage: memory that the ranks of one host share, on which they watch each other's progress.
//
// Every member has a few slots that only it writes and all may read, and one progress mark that
// only grows. "Wait until all have reached mark m, then read their slots" is all the
// synchronisation there is. The members are those of one channel (process set) on this host, in
// rank order.
//
// Marks: all members count the same steps, so a mark means the same to all. A new epoch (after a
// dropped bucket, when members may have counted differently) starts far above all earlier marks:
// (epoch << 40) + steps.
//
// Thread: one thread at a time per member.
#pragma once

#include <cstddef>
#include <cstdint>

#include "horovodx/base/bell.h"

namespace horovodx::transport {

using Mark = std::uint64_t;
constexpr Mark FirstMark(std::uint32_t epoch) { return static_cast<Mark>(epoch) << 40; }

class Stage {
 public:
  virtual ~Stage() = default;

  int rank() const { return rank_; }  // among the members on this host
  int size() const { return size_; }
  int slots() const { return slots_; }
  std::size_t slot_bytes() const { return slot_bytes_; }

  // Slot `index` of `member`; 64-byte aligned. Write only one's own.
  std::byte* slot(int member, int index) const {
    return base_[member] + static_cast<std::size_t>(index) * slot_bytes_;
  }

  // My mark becomes `mark` (it must not shrink); members asleep are woken. What I wrote to my slots
  // before is visible to whoever sees the mark.
  void Publish(Mark mark);
  // The mark of a member.
  Mark of(int member) const { return marks_[member]->load(std::memory_order_acquire); }
  // Whether every member has reached `mark`.
  bool AllAt(Mark mark) const { return FirstBehind(mark) < 0; }
  // The first member (in rank order) that has not reached `mark`, or -1.
  int FirstBehind(Mark mark) const {
    for (int member = 0; member < size_; ++member) {
      if (of(member) < mark) return member;
    }
    return -1;
  }

 protected:
  int rank_ = 0;
  int size_ = 0;
  int slots_ = 0;
  std::size_t slot_bytes_ = 0;
  // Filled by the transport. Owned by it too; they outlive the stage.
  std::byte** base_ = nullptr;                    // [size_]
  std::atomic<std::uint64_t>** marks_ = nullptr;  // [size_]
  BellWord** bells_ = nullptr;                    // [size_]
};

}  // namespace horovodx::transport

// StagePipe: the order of events on one stage, the same for all its members.
//
// Staged collectives run one after another over a stage. Each takes its place in the pipe's order:
// a stretch of marks, and the slots that follow the ones used last. A member publishes a mark when
// it has written a slot; that it has *read* one needs no mark of its own, because the next mark it
// publishes says so too. So each slot remembers from which mark on it is free again, also from one
// operation to the next.
//
// A new epoch starts when an operation was given up. Nobody writes a slot in it before all members
// have entered it: someone may still be reading the last operation of the epoch before. And nobody
// takes a mark of a later epoch for progress in an earlier one: a member that leaves an epoch
// writes down how far it got in it.
//
// Layout of a member's part of the stage: kHeaderBytes in which it writes down its last marks and
// what operations took, then kSlots slots of equal size. The stage's own division into slots does
// not matter here.
//
// Thread: as the stage's, one at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "horovodx/collectives/stage_ways.h"
#include "horovodx/transport/stage.h"

namespace horovodx::collectives {

// These decide how buckets are cut: they must be the same on all members of a stage. The sizes were
// measured with 512 KiB and with 1 MiB of second-level cache a core, and 32 MiB of third-level.
struct StageOptions {
  // At most; where each reads all, and by slices.
  std::size_t segment_bytes = 128 << 10;
  std::size_t sliced_segment_bytes = 256 << 10;
  // Results of at least this many bytes are written past the cache, unless they are their inputs.
  std::size_t streaming_from_bytes = 16 << 20;
  // The way of all operations; none: what is fastest (stage_ways.h).
  std::optional<StageWay> way = std::nullopt;
};

class StagePipe {
 public:
  // Four, so that packing one segment ahead never waits for the slot to be free.
  static constexpr int kSlots = 4;

  explicit StagePipe(transport::Stage& stage, StageOptions options = {});

  transport::Stage& stage() { return stage_; }
  const StageOptions& options() const { return options_; }
  // Starts a new epoch (it must grow): I have finished, or given up, everything of the epochs
  // before.
  void EnterEpoch(std::uint32_t epoch);

  // The rest is for the staged collectives.

  // Takes the next `count` marks for an operation; returns the mark before the first of them.
  transport::Mark TakeMarks(transport::Mark count);
  // Takes the next slot; its number.
  int TakeSlot();
  // The operation at hand is given up; the pipe is of no use until the next EnterEpoch.
  void Abandon() { abandoned_ = true; }

  std::size_t slot_bytes() const { return slot_bytes_; }  // a multiple of 64
  std::byte* slot(int member, int index) const {
    return stage_.slot(member, 0) + kHeaderBytes + static_cast<std::size_t>(index) * slot_bytes_;
  }
  int next_slot() const { return next_slot_; }
  // Slot `index` may be written again once all have published `mark`.
  void KeepUntil(transport::Mark mark, int index) { free_at_[index] = mark; }

  // The first member that still may read my slot `index`, or -1: it may be written.
  int FirstReading(int index) const { return stage_.FirstBehind(free_at_[index]); }
  // The first member that has not reached `mark` in this epoch, or -1.
  int FirstMissing(transport::Mark mark) const {
    for (int member = 0; member < stage_.size(); ++member) {
      if (!HasReached(member, mark)) return member;
    }
    return -1;
  }
  void Publish(transport::Mark mark) { stage_.Publish(mark); }

  // Which way operations take.
  StageWays& ways() { return ways_; }
  // Room for a pointer a member.
  const void** inputs() { return inputs_.data(); }
  // Room for what is on its way past the cache: it stays in the nearest one.
  static constexpr std::size_t kNearBytes = 8 << 10;
  std::byte* near() { return near_.data(); }

 private:
  static constexpr std::size_t kMarksBytes = 64;
  static constexpr std::size_t kHeaderBytes = 256;
  static_assert(kMarksBytes + sizeof(StageWays::Board) <= kHeaderBytes);
  static constexpr std::uint32_t kEpochsKept = kMarksBytes / sizeof(transport::Mark);

  bool HasReached(int member, transport::Mark mark) const {
    const transport::Mark at = stage_.of(member);
    if (at < mark) return false;
    return at < epoch_end_ || LastOfEpoch(member) >= mark;
  }
  std::uint64_t& LastMark(int member) const;
  transport::Mark LastOfEpoch(int member) const;

  transport::Stage& stage_;
  StageOptions options_;
  std::size_t slot_bytes_;
  std::uint32_t epoch_ = 0;
  transport::Mark epoch_end_;                      // the first mark of the next epoch
  transport::Mark next_ = 0;                       // the last mark taken
  std::array<transport::Mark, kSlots> free_at_{};  // slot i is free once all have reached this
  int next_slot_ = 0;
  bool abandoned_ = false;
  StageWays ways_;
  std::vector<const void*> inputs_;
  alignas(64) std::array<std::byte, kNearBytes> near_;
};

}  // namespace horovodx::collectives

#include "horovodx/collectives/stage_pipe.h"

#include <atomic>

#include "horovodx/base/check.h"

namespace horovodx::collectives {

using transport::FirstMark;
using transport::Mark;

namespace {

// Where each member writes down what operations took.
std::vector<StageWays::Board*> Boards(const transport::Stage& stage, std::size_t offset) {
  std::vector<StageWays::Board*> boards;
  for (int member = 0; member < stage.size(); ++member) {
    boards.push_back(reinterpret_cast<StageWays::Board*>(stage.slot(member, 0) + offset));
  }
  return boards;
}

}  // namespace

StagePipe::StagePipe(transport::Stage& stage, StageOptions options)
    : stage_(stage),
      options_(options),
      epoch_end_(FirstMark(1)),
      ways_(stage.rank(), Boards(stage, kMarksBytes)),
      inputs_(static_cast<std::size_t>(stage.size())) {
  HVDX_CHECK(options.segment_bytes >= 64 && options.sliced_segment_bytes >= 64);
  const std::size_t bytes = static_cast<std::size_t>(stage.slots()) * stage.slot_bytes();
  HVDX_CHECK(bytes >= kHeaderBytes + kSlots * std::size_t{64});
  slot_bytes_ = (bytes - kHeaderBytes) / kSlots / 64 * 64;
}

void StagePipe::EnterEpoch(std::uint32_t epoch) {
  HVDX_CHECK(epoch > epoch_);
  const Mark reached = stage_.of(stage_.rank());
  // Seen by whoever sees the first mark of the new epoch.
  std::atomic_ref(LastMark(stage_.rank())).store(reached, std::memory_order_relaxed);
  epoch_ = epoch;
  epoch_end_ = FirstMark(epoch + 1);
  next_ = FirstMark(epoch);
  free_at_.fill(next_);
  next_slot_ = 0;
  abandoned_ = false;
  stage_.Publish(next_);
}

Mark StagePipe::TakeMarks(Mark count) {
  HVDX_CHECK(!abandoned_);
  const Mark before = next_;
  next_ += count;
  return before;
}

int StagePipe::TakeSlot() {
  const int index = next_slot_;
  next_slot_ = (next_slot_ + 1) % kSlots;
  return index;
}

// Where `member` writes down the last mark it published in my epoch.
std::uint64_t& StagePipe::LastMark(int member) const {
  auto* marks = reinterpret_cast<std::uint64_t*>(stage_.slot(member, 0));
  return marks[epoch_ % kEpochsKept];
}

// How far a member got that has left my epoch.
Mark StagePipe::LastOfEpoch(int member) const {
  const Mark last = std::atomic_ref(LastMark(member)).load(std::memory_order_relaxed);
  // Written over since, many epochs later: nothing is known, so nothing is believed.
  return last < epoch_end_ ? last : 0;
}

}  // namespace horovodx::collectives

// Staged allreduce: ranks of one host add up each other's memory, streamed through a shared stage.
//
// The bucket goes through the stage in cache-sized segments: each rank packs a segment of its
// tensors into its slot (prescaled), and when all have, adds up everybody's slots in rank order
// straight into its result tensors (postscaled). Few ranks: each reads all slots. More: each sums
// its slice, then gathers the others'. Slots are used in turn, so packing the next segment overlaps
// others' reading of this one. Partial sums live in slots only: nothing of a result is written
// before every rank's first segment has arrived. The order of summation is the rank order, whatever
// the bucket; results are the same bits on all ranks, merged or not.
//
// Not blocking: a state machine that does what can be done now, so that one thread can drive
// several.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "horovodx/transport/stage.h"
#include "kernels/pack.h"
#include "kernels/types.h"

namespace horovodx::collectives {

// The order of events on one stage, the same for all its members: which mark and which slots the
// next operation starts with. One a stage; lives as long as it.
class StagePipe {
 public:
  explicit StagePipe(transport::Stage& stage);
  transport::Stage& stage() { return stage_; }
  // Starts a new epoch: I have finished, or given up, everything of the epochs before.
  void EnterEpoch(std::uint32_t epoch);

 private:
  friend class StagedAllreduce;
  transport::Stage& stage_;
  transport::Mark next_;                    // the next mark to publish is above this
  std::vector<transport::Mark> slot_free_;  // slot i may be written once all have reached this
  int next_slot_ = 0;
};

struct StagedTensors {
  ElementType type = ElementType::kFloat32;
  ReduceOp op = ReduceOp::kSum;  // sum, min, max or product
  double prescale = 1.0;
  double postscale = 1.0;
  // Same counts on all ranks. Input data may be null: zeros. Output data may be null: not wanted.
  // Output may be the same memory as input. Borrowed until done.
  std::span<const kernels::Piece> input;
  std::span<const kernels::Piece> output;
};

class StagedAllreduce {
 public:
  // Takes its place in the pipe's order now. One at a time a pipe.
  StagedAllreduce(StagePipe& pipe, const StagedTensors& tensors);

  enum class Progress { kDone, kMoved, kBlocked };
  // At most about one segment's work. kBlocked: nothing to do until another member's mark moves.
  Progress Advance();
  // Which member it waits for (the first in rank order), for error messages; -1 if none.
  int waiting_for() const;
  // Gives up an operation that nobody can have finished. The pipe is usable after its next
  // EnterEpoch.
  void Abandon();
};

}  // namespace horovodx::collectives

// Staged allreduce: ranks of one host add up each other's memory, streamed through a shared stage.
//
// The bucket goes through the stage in cache-sized segments: each rank packs a segment of its
// tensors into its slot (prescaled), and when all have, adds up everybody's slots in rank order
// straight into its result tensors (postscaled). Either each reads all slots, or each sums its
// slice, then gathers the others'; slots are written through the cache or past it: stage_ways.h
// finds out what is faster here. Slots are used in turn, so packing the next segment overlaps
// others' reading of this one. Partial sums live in slots only: nothing of a result is written
// before every rank's first segment has arrived. The order of summation is the rank order, whatever
// the bucket; results are the same bits on all ranks, merged or not.
//
// What members publish, for segments 0, 1, 2 ... (P: packed, S: my slice is summed):
//   each reads all   P0 P1 P2 P3 ...       segment k is written out between P(k) and P(k+2)
//   by slices        P0 P1 S0 P2 S1 ...    segment k is written out between S(k) and P(k+3)
// A bucket of one segment costs each rank one mark; an empty bucket too, so that nobody finishes
// before all have started.
//
// Not blocking: a state machine that does what can be done now, so that one thread can drive
// several. Allocates nothing.
#pragma once

#include <cstddef>
#include <span>

#include "horovodx/base/clock.h"
#include "horovodx/collectives/piece_cursor.h"
#include "horovodx/collectives/stage_pipe.h"
#include "kernels/pack.h"
#include "kernels/types.h"

namespace horovodx::collectives {

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
  // Whether every member's first segment has been seen.
  bool all_have_come() const { return summed_ + written_ > 0; }
  // Which member it waits for (the first in rank order), for error messages; -1 if none.
  int waiting_for() const;
  // Gives up an operation that nobody can have finished. The pipe is usable after its next
  // EnterEpoch.
  void Abandon() { pipe_.Abandon(); }

 private:
  bool MayPack() const;
  bool MaySum() const;
  bool MayWrite() const;
  void Pack();
  void PackRange(std::byte* to, std::size_t count);
  void PackPastCache(std::byte* to, std::size_t count);
  void CopyIn(std::byte* to, std::size_t count);
  void SumMySlice();
  void Write();
  void WriteSums(int slot, std::size_t count);
  void SumPastCache(std::byte* to, int slot, std::size_t begin, std::size_t count);
  void GatherSlices(int slot, std::size_t count);
  void CopyOut(PieceCursor& output, const std::byte* from, std::size_t count);
  void SumInto(std::byte* to, int slot, std::size_t begin, std::size_t count);

  void Publish(transport::Mark mark);
  Progress Done();

  transport::Mark PackMark(std::size_t segment) const;
  transport::Mark SumMark(std::size_t segment) const;
  transport::Mark FreeMark(std::size_t segment) const;
  int SlotOf(std::size_t segment) const;
  std::size_t CountOf(std::size_t segment) const;
  std::size_t SliceBegin(int member, std::size_t count) const;

  StagePipe& pipe_;
  const ElementType type_;
  const ReduceOp op_;
  const double prescale_;
  const double postscale_;
  PieceCursor input_;  // at what is packed next
  PieceCursor own_;    // at what is summed next, if it is read from the input
  PieceCursor output_;
  PieceCursor own_output_;  // at what SumMySlice writes next

  // My contribution is read from the tensors and not from my slot: nearer, and in slices mode my
  // slice need not be packed at all.
  bool read_own_;
  bool streaming_;  // results are written past the cache
  StageWay way_;
  TimePoint since_;            // if its time counts
  std::size_t count_ = 0;      // elements of the bucket
  std::size_t segment_count_;  // elements of a segment (the last may have fewer)
  std::size_t segments_;       // at least one
  transport::Mark base_;       // my marks are above this ...
  transport::Mark end_;        // ... and this is the last of them
  int first_slot_;

  // Segments gone through each stage; written_ <= summed_ <= packed_ (summed_ only by slices).
  std::size_t packed_ = 0;
  std::size_t summed_ = 0;
  std::size_t written_ = 0;
};

}  // namespace horovodx::collectives

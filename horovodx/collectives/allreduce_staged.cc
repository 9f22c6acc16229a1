#include "horovodx/collectives/allreduce_staged.h"

#include <algorithm>
#include <cstring>

#include "horovodx/collectives/patterns/blocks.h"
#include "kernels/copy.h"
#include "kernels/reduce.h"
#include "kernels/scale.h"

namespace horovodx::collectives {
namespace {

using transport::Mark;

bool InPlace(const StagedTensors& tensors) {
  return !tensors.input.empty() && !tensors.output.empty() &&
         tensors.input.front().data == tensors.output.front().data;
}

// Of as few parts as `most` allows, all about the same: a short last one costs as many marks.
std::size_t EvenPart(std::size_t count, std::size_t most, ElementType type) {
  const std::size_t line = 64 / SizeOf(type);
  const std::size_t parts = std::max<std::size_t>(1, PartsOf(count, most));
  const std::size_t even = PartsOf(PartsOf(count, parts), line) * line;
  return std::clamp<std::size_t>(even, 1, most);
}

}  // namespace

StagedAllreduce::StagedAllreduce(StagePipe& pipe, const StagedTensors& tensors)
    : pipe_(pipe),
      type_(tensors.type),
      op_(tensors.op),
      prescale_(tensors.prescale),
      postscale_(tensors.postscale),
      input_(tensors.input, SizeOf(tensors.type)),
      own_(input_),
      output_(tensors.output, SizeOf(tensors.type)),
      own_output_(output_),
      read_own_(tensors.prescale == 1.0 && !tensors.input.empty()),
      first_slot_(pipe.next_slot()) {
  for (const kernels::Piece& piece : tensors.input.empty() ? tensors.output : tensors.input) {
    count_ += piece.count;
    if (piece.data == nullptr) read_own_ = false;
  }
  const StageOptions& options = pipe.options();
  const std::size_t bytes = count_ * SizeOf(type_);
  way_ = options.way ? *options.way : pipe.ways().Next(bytes);
  if (!options.way && pipe.ways().IsTrial(bytes)) since_ = Clock::now();
  const std::size_t most = way_.by_slices ? options.sliced_segment_bytes : options.segment_bytes;
  segment_count_ = EvenPart(count_, std::min(most, pipe.slot_bytes()) / SizeOf(type_), type_);
  segments_ = std::max<std::size_t>(1, PartsOf(count_, segment_count_));
  streaming_ = bytes >= options.streaming_from_bytes && !InPlace(tensors);
  const Mark marks = way_.by_slices ? 2 * segments_ + 2 : segments_;
  base_ = pipe.TakeMarks(marks);
  end_ = base_ + marks;
}

StagedAllreduce::Progress StagedAllreduce::Advance() {
  if (written_ == segments_) return Progress::kDone;
  if (MayPack()) {
    Pack();
  } else if (MaySum()) {
    SumMySlice();
  } else if (MayWrite()) {
    Write();
  } else {
    return Progress::kBlocked;
  }
  return written_ == segments_ ? Done() : Progress::kMoved;
}

StagedAllreduce::Progress StagedAllreduce::Done() {
  if (streaming_) kernels::EndStreaming();
  if (!pipe_.options().way) {
    const bool counts = since_ != TimePoint();
    pipe_.ways().Finished(count_ * SizeOf(type_), counts ? ToSeconds(Clock::now() - since_) : 0);
  }
  return Progress::kDone;
}

// What was written past the cache is there before the mark.
void StagedAllreduce::Publish(Mark mark) {
  if (way_.past_cache) kernels::EndStreaming();
  pipe_.Publish(mark);
}

int StagedAllreduce::waiting_for() const {
  if (written_ == segments_ || MayPack() || MaySum() || MayWrite()) return -1;
  if (written_ < packed_ && !way_.by_slices) return pipe_.FirstMissing(PackMark(written_));
  if (written_ < summed_) return pipe_.FirstMissing(SumMark(written_));
  const int missing = summed_ < packed_ ? pipe_.FirstMissing(PackMark(summed_)) : -1;
  return missing >= 0 ? missing : pipe_.FirstReading(SlotOf(packed_));
}

// Packing runs ahead of the rest by one segment, never more: that is what FreeMark relies on.
bool StagedAllreduce::MayPack() const {
  if (packed_ == segments_) return false;
  const bool in_turn =
      way_.by_slices ? packed_ < summed_ + 2 && packed_ < written_ + 3 : packed_ < written_ + 2;
  return in_turn && pipe_.FirstReading(SlotOf(packed_)) < 0;
}

bool StagedAllreduce::MaySum() const {
  if (!way_.by_slices || summed_ == packed_) return false;
  // Marks come in the same order on all members: the next segment is packed first.
  const bool in_turn = packed_ == segments_ || packed_ == summed_ + 2;
  return in_turn && pipe_.FirstMissing(PackMark(summed_)) < 0;
}

bool StagedAllreduce::MayWrite() const {
  if (way_.by_slices) return written_ < summed_ && pipe_.FirstMissing(SumMark(written_)) < 0;
  return written_ < packed_ && pipe_.FirstMissing(PackMark(written_)) < 0;
}

void StagedAllreduce::Pack() {
  const int me = pipe_.stage().rank();
  const int slot = pipe_.TakeSlot();
  const std::size_t count = CountOf(packed_);
  std::byte* const to = pipe_.slot(me, slot);
  if (read_own_ && pipe_.stage().size() == 1) {
    input_.Skip(count);
  } else if (read_own_ && way_.by_slices) {
    const std::size_t begin = SliceBegin(me, count);
    const std::size_t end = SliceBegin(me + 1, count);
    PackRange(to, begin);
    input_.Skip(end - begin);
    PackRange(to + end * SizeOf(type_), count - end);
  } else {
    PackRange(to, count);
  }
  pipe_.KeepUntil(FreeMark(packed_), slot);
  Publish(PackMark(packed_));
  ++packed_;
}

void StagedAllreduce::PackRange(std::byte* to, std::size_t count) {
  if (way_.past_cache) {
    PackPastCache(to, count);
  } else {
    CopyIn(to, count);
  }
}

// What is in small pieces, or scaled, is put together nearby first: only whole lines are written
// fast past the cache.
void StagedAllreduce::PackPastCache(std::byte* to, std::size_t count) {
  const std::size_t most = StagePipe::kNearBytes / SizeOf(type_);
  while (count > 0) {
    std::size_t now = std::min(count, most);
    if (prescale_ == 1.0 && input_.IsWhole(now)) {
      const Stretch from = input_.Next(count);
      now = from.count;
      kernels::CopyStreaming(to, from.data, now * SizeOf(type_));
    } else {
      CopyIn(pipe_.near(), now);
      kernels::CopyStreaming(to, pipe_.near(), now * SizeOf(type_));
    }
    to += now * SizeOf(type_);
    count -= now;
  }
}

void StagedAllreduce::CopyIn(std::byte* to, std::size_t count) {
  while (count > 0) {
    const Stretch from = input_.Next(count);
    const std::size_t bytes = from.count * SizeOf(type_);
    if (from.data == nullptr) {
      std::memset(to, 0, bytes);
    } else if (prescale_ == 1.0) {
      kernels::Copy(to, from.data, bytes);
    } else {
      kernels::Scale(type_, to, from.data, from.count, prescale_);
    }
    to += bytes;
    count -= from.count;
  }
}

// Into my own slot, where nobody but me reads this slice of the segment, and while it is near into
// my results.
void StagedAllreduce::SumMySlice() {
  const int me = pipe_.stage().rank();
  const int slot = SlotOf(summed_);
  const std::size_t count = CountOf(summed_);
  const std::size_t begin = SliceBegin(me, count);
  const std::size_t end = SliceBegin(me + 1, count);
  if (read_own_) own_.Skip(begin);
  own_output_.Skip(begin);
  const std::size_t most = StagePipe::kNearBytes / SizeOf(type_);
  for (std::size_t done = begin; done < end; done += std::min(most, end - done)) {
    std::byte* const to = pipe_.slot(me, slot) + done * SizeOf(type_);
    std::byte* const sums = way_.past_cache ? pipe_.near() : to;
    const std::size_t now = std::min(most, end - done);
    SumInto(sums, slot, done, now);
    if (sums != to) kernels::CopyStreaming(to, sums, now * SizeOf(type_));
    CopyOut(own_output_, sums, now);
  }
  if (read_own_) own_.Skip(count - end);
  own_output_.Skip(count - end);
  Publish(SumMark(summed_));
  ++summed_;
}

void StagedAllreduce::Write() {
  const int slot = SlotOf(written_);
  const std::size_t count = CountOf(written_);
  if (way_.by_slices) {
    GatherSlices(slot, count);
  } else {
    WriteSums(slot, count);
  }
  ++written_;
}

void StagedAllreduce::WriteSums(int slot, std::size_t count) {
  for (std::size_t done = 0; done < count;) {
    const Stretch to = output_.Next(count - done);
    if (to.data == nullptr) {
      if (read_own_) own_.Skip(to.count);
    } else if (streaming_) {
      SumPastCache(to.data, slot, done, to.count);
    } else {
      SumInto(to.data, slot, done, to.count);
    }
    done += to.count;
  }
}

void StagedAllreduce::SumPastCache(std::byte* to, int slot, std::size_t begin, std::size_t count) {
  const std::size_t most = StagePipe::kNearBytes / SizeOf(type_);
  while (count > 0) {
    const std::size_t now = std::min(most, count);
    SumInto(pipe_.near(), slot, begin, now);
    kernels::CopyStreaming(to, pipe_.near(), now * SizeOf(type_));
    to += now * SizeOf(type_);
    begin += now;
    count -= now;
  }
}

void StagedAllreduce::GatherSlices(int slot, std::size_t count) {
  for (int member = 0; member < pipe_.stage().size(); ++member) {
    const std::size_t begin = SliceBegin(member, count);
    const std::size_t slice = SliceBegin(member + 1, count) - begin;
    if (member == pipe_.stage().rank()) {
      output_.Skip(slice);
    } else {
      CopyOut(output_, pipe_.slot(member, slot) + begin * SizeOf(type_), slice);
    }
  }
}

void StagedAllreduce::CopyOut(PieceCursor& output, const std::byte* from, std::size_t count) {
  const auto copy = streaming_ ? kernels::CopyStreaming : kernels::Copy;
  while (count > 0) {
    const Stretch to = output.Next(count);
    const std::size_t bytes = to.count * SizeOf(type_);
    if (to.data != nullptr) copy(to.data, from, bytes);
    from += bytes;
    count -= to.count;
  }
}

// Elements [begin, begin + count) of the segment in `slot`. Moves own_ on by `count`.
void StagedAllreduce::SumInto(std::byte* to, int slot, std::size_t begin, std::size_t count) {
  const int size = pipe_.stage().size();
  const void** inputs = pipe_.inputs();
  for (const std::size_t end = begin + count; begin < end;) {
    for (int member = 0; member < size; ++member) {
      inputs[member] = pipe_.slot(member, slot) + begin * SizeOf(type_);
    }
    std::size_t now = end - begin;
    if (read_own_) {
      const Stretch own = own_.Next(now);
      inputs[pipe_.stage().rank()] = own.data;
      now = own.count;
    }
    kernels::ReduceMany(type_, op_, to, inputs, size, now, postscale_);
    to += now * SizeOf(type_);
    begin += now;
  }
}

Mark StagedAllreduce::PackMark(std::size_t segment) const {
  return base_ + 1 + (way_.by_slices ? 2 * segment : segment);
}

Mark StagedAllreduce::SumMark(std::size_t segment) const { return base_ + 4 + 2 * segment; }

// The first mark of which the rules of MayPack say that I have written `segment` out when I publish
// it; behind my last segment it is the next operation's first.
Mark StagedAllreduce::FreeMark(std::size_t segment) const {
  const std::size_t later = segment + (way_.by_slices ? 3 : 2);
  return later < segments_ ? PackMark(later) : end_ + 1;
}

int StagedAllreduce::SlotOf(std::size_t segment) const {
  return static_cast<int>((static_cast<std::size_t>(first_slot_) + segment) % StagePipe::kSlots);
}

std::size_t StagedAllreduce::CountOf(std::size_t segment) const {
  return std::min(segment_count_, count_ - segment * segment_count_);
}

// In whole cache lines, so that no line is read by two members.
std::size_t StagedAllreduce::SliceBegin(int member, std::size_t count) const {
  const auto size = static_cast<std::size_t>(pipe_.stage().size());
  const std::size_t line = 64 / SizeOf(type_);
  if (static_cast<std::size_t>(member) == size) return count;
  return count * static_cast<std::size_t>(member) / size / line * line;
}

}  // namespace horovodx::collectives

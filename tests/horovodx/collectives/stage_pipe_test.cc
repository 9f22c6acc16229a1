// Epochs: what is left of an operation that was given up, or that others are still reading, must
// never show in a result.
#include "horovodx/collectives/stage_pipe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/horovodx/collectives/staged_driver.h"
#include "tests/support/in_process_world.h"

namespace horovodx::collectives {
namespace {

using testing_support::InProcessWorld;
using transport::FirstMark;
using Progress = StagedAllreduce::Progress;

// One float array, in place.
class Floats {
 public:
  Floats(std::size_t count, float value) : data_(count, value), piece_{data_.data(), count} {
    tensors_.input = {&piece_, 1};
    tensors_.output = {&piece_, 1};
  }
  const StagedTensors& tensors() const { return tensors_; }
  bool AllAre(float value) const {
    return std::all_of(data_.begin(), data_.end(), [=](float x) { return x == value; });
  }

 private:
  std::vector<float> data_;
  kernels::Piece piece_;
  StagedTensors tensors_;
};

void AwaitMark(transport::Mesh& mesh, int member, transport::Mark mark) {
  Bell::Listener listener(mesh.bell());
  const Deadline deadline = Deadline::After(Seconds(30));
  while (mesh.stage()->of(member) < mark) {
    ASSERT_TRUE(listener.Sleep(deadline)) << "waits for the mark of " << member;
  }
}

// How far an operation gets while someone is missing.
void AdvanceUntilBlocked(StagedAllreduce& operation) {
  Progress progress;
  while ((progress = operation.Advance()) == Progress::kMoved) {
  }
  ASSERT_EQ(progress, Progress::kBlocked);
}

struct Case {
  int ranks;
  std::size_t count;
  bool sliced;
  bool tried = false;  // all ways in turn
};
const Case kCases[] = {{2, 1, false},      {2, 100'000, false},      {2, 100'000, true},
                       {3, 20, true},      {3, 50'000, true},        {5, 30'000, false},
                       {5, 100'000, true}, {2, 50'000, false, true}, {3, 20'000, false, true}};

// Any operation after the event under test: several, so that every slot is used again.
void ExpectRightSums(StagePipe& pipe, transport::Mesh& mesh, std::size_t count) {
  for (int turn = 0; turn < 6; ++turn) {
    Floats x(count + static_cast<std::size_t>(turn), static_cast<float>(turn + mesh.rank()));
    const Status status = RunStaged(pipe, mesh.bell(), x.tensors());
    ASSERT_TRUE(status.ok()) << "rank " << mesh.rank() << " " << status.message();
    const int n = mesh.size();
    ASSERT_TRUE(x.AllAre(static_cast<float>(turn * n + n * (n - 1) / 2)));
  }
}

constexpr std::size_t kSegmentBytes = 16 << 10;

StageOptions OptionsOf(const Case& c) {
  StageOptions options{.segment_bytes = kSegmentBytes, .sliced_segment_bytes = kSegmentBytes};
  if (!c.tried) options.way = StageWay{.by_slices = c.sliced, .past_cache = c.ranks != 3};
  return options;
}

TEST(StagePipeTest, OperationThatOneRankNeverStartedLeavesInputsIntactWhenGivenUp) {
  for (const Case& c : kCases) {
    InProcessWorld world(c.ranks);
    world.RunOnMesh([&](transport::Mesh& mesh) {
      StagePipe pipe(*mesh.stage(), OptionsOf(c));
      const int leaver = c.ranks / 2;
      for (std::uint32_t epoch = 1; epoch < 20; ++epoch) {
        ExpectRightSums(pipe, mesh, c.count);
        if (mesh.rank() == leaver) {
          pipe.EnterEpoch(epoch);
          continue;
        }
        Floats x(c.count, 3.0f);
        StagedAllreduce operation(pipe, x.tensors());
        AdvanceUntilBlocked(operation);
        // The leaver's mark is now far above all marks of this operation, but it took no part.
        AwaitMark(mesh, leaver, FirstMark(epoch));
        AdvanceUntilBlocked(operation);
        EXPECT_GE(operation.waiting_for(), 0);
        operation.Abandon();
        EXPECT_TRUE(x.AllAre(3.0f));
        pipe.EnterEpoch(epoch);
      }
    });
  }
}

// All moves of an operation but the last one, which reads the others' slots.
void AdvanceToLastMove(StagedAllreduce& operation, const Case& c, Bell bell) {
  const std::size_t segments = (c.count * sizeof(float) + kSegmentBytes - 1) / kSegmentBytes;
  std::size_t left = segments * (c.sliced ? 3 : 2) - 1;
  Bell::Listener listener(bell);
  const Deadline deadline = Deadline::After(Seconds(30));
  while (left > 0) {
    if (operation.Advance() == Progress::kMoved) {
      --left;
    } else {
      ASSERT_TRUE(listener.Sleep(deadline)) << "waits for " << operation.waiting_for();
    }
  }
}

// One rank reads the last segment of an epoch when the others already work in the next.
TEST(StagePipeTest, LateReaderFindsTheSlotsOfThoseWhoWentOnToTheNextEpochUnchanged) {
  for (const Case& c : kCases) {
    if (c.tried) continue;  // nobody knows how many moves it takes
    InProcessWorld world(c.ranks);
    world.RunOnMesh([&](transport::Mesh& mesh) {
      StagePipe pipe(*mesh.stage(), OptionsOf(c));
      for (std::uint32_t epoch = 1; epoch < 20; ++epoch) {
        const int late = static_cast<int>(epoch) % c.ranks;
        Floats x(c.count, 1.0f);
        StagedAllreduce operation(pipe, x.tensors());
        if (mesh.rank() == late) {
          AdvanceToLastMove(operation, c, mesh.bell());
          for (int i = 0; i < c.ranks; ++i) {
            if (i != late) AwaitMark(mesh, i, FirstMark(epoch));
          }
        }
        ASSERT_TRUE(Finish(operation, mesh.bell()).ok());
        EXPECT_TRUE(x.AllAre(static_cast<float>(c.ranks)));
        pipe.EnterEpoch(epoch);
        ExpectRightSums(pipe, mesh, c.count);
      }
    });
  }
}

TEST(StagePipeTest, StageOfAnyNumberOfSlotsWillDo) {
  for (int slots : {1, 2, 3, 7}) {
    transport::loopback::WorldOptions options;
    options.slots = slots;
    options.slot_bytes = 4096;
    InProcessWorld world(3, options);
    world.RunOnMesh([&](transport::Mesh& mesh) {
      StagePipe pipe(*mesh.stage());
      EXPECT_GE(pipe.slot_bytes(),
                static_cast<std::size_t>(slots) * 4096 / StagePipe::kSlots - 128);
      ExpectRightSums(pipe, mesh, 10'000);
    });
  }
}

}  // namespace
}  // namespace horovodx::collectives

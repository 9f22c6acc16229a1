#include "horovodx/collectives/stage_ways.h"

#include <gtest/gtest.h>

#include <vector>

namespace horovodx::collectives {
namespace {

constexpr std::size_t kBytes = 1 << 20;

// Members of a stage, all at the same operation.
class Members {
 public:
  explicit Members(int count) : boards_(static_cast<std::size_t>(count)) {
    std::vector<StageWays::Board*> all;
    for (StageWays::Board& board : boards_) all.push_back(&board);
    for (int rank = 0; rank < count; ++rank) ways_.emplace_back(rank, all);
  }

  // The way that all of them take next; they must not differ.
  StageWay Next(std::size_t bytes) const {
    for (const StageWays& one : ways_) EXPECT_EQ(one.Next(bytes), ways_.front().Next(bytes));
    return ways_.front().Next(bytes);
  }

  // One operation. `seconds(rank, way)` is what it takes.
  template <typename Time>
  void Run(std::size_t bytes, Time seconds) {
    const StageWay way = Next(bytes);
    for (std::size_t rank = 0; rank < ways_.size(); ++rank) {
      ways_[rank].Finished(bytes, seconds(static_cast<int>(rank), way));
    }
  }

  const StageWays& member(std::size_t rank) const { return ways_[rank]; }

 private:
  std::vector<StageWays::Board> boards_;
  std::vector<StageWays> ways_;
};

int TrialsOf(int ranks, std::size_t bytes) {
  return StageWays::kTries * static_cast<int>(StageWays::Possible(ranks, bytes).size());
}

TEST(StageWaysTest, FastestWayStays) {
  for (int ranks : {2, 3, 4, 9}) {
    for (const StageWay& fastest : StageWays::Possible(ranks, kBytes)) {
      Members members(ranks);
      const auto time = [&](int, StageWay way) { return way == fastest ? 1.0 : 1.1; };
      for (int i = 0; i < TrialsOf(ranks, kBytes) + 1; ++i) members.Run(kBytes, time);
      for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(members.Next(kBytes), fastest);
        members.Run(kBytes, [](int, StageWay) { return 100.0; });
      }
    }
  }
}

// Rank 0 always waits two seconds for rank 1, and who waits sees little of what the way takes.
TEST(StageWaysTest, TimeSpentWaitingForOthersDecidesNothing) {
  const StageWay fastest{.past_cache = true};
  Members members(2);
  const auto time = [&](int rank, StageWay way) {
    if (rank == 0) return way == fastest ? 2.2 : 2.1;
    return way == fastest ? 0.1 : 0.2;
  };
  for (int i = 0; i < TrialsOf(2, kBytes) + 1; ++i) members.Run(kBytes, time);
  EXPECT_EQ(members.Next(kBytes), fastest);
}

TEST(StageWaysTest, OneSlowTryDoesNotCondemnAWay) {
  const StageWay fastest{};
  Members members(2);
  int tries = 0;
  const auto time = [&](int, StageWay way) {
    if (way == fastest) return tries++ < 5 ? 9.0 : 1.0;
    return 2.0;
  };
  for (int i = 0; i < TrialsOf(2, kBytes) + 1; ++i) members.Run(kBytes, time);
  EXPECT_EQ(members.Next(kBytes), fastest);
}

TEST(StageWaysTest, ClassesOfSizesAreTriedApart) {
  Members members(2);
  const StageWay small{.past_cache = true};
  const StageWay large{.by_slices = true};
  for (int i = 0; i < TrialsOf(2, 16 << 20) + 1; ++i) {
    members.Run(128 << 10, [&](int, StageWay way) { return way == small ? 1.0 : 2.0; });
    members.Run(16 << 20, [&](int, StageWay way) { return way == large ? 1.0 : 2.0; });
  }
  EXPECT_EQ(members.Next(128 << 10), small);
  EXPECT_EQ(members.Next(16 << 20), large);
}

// A member may be done with the last trial, and with what it chooses, before another has written
// down its times: nobody chooses before an operation later.
TEST(StageWaysTest, NobodyChoosesBeforeAllHaveWrittenDownTheirTimes) {
  std::vector<StageWays::Board> boards(2);
  StageWays early(0, {&boards[0], &boards[1]});
  StageWays late(1, {&boards[0], &boards[1]});
  const int trials = TrialsOf(2, kBytes);
  for (int i = 0; i < trials; ++i) {
    const StageWay way = early.Next(kBytes);
    ASSERT_EQ(late.Next(kBytes), way);
    early.Finished(kBytes, way == StageWay{} ? 2.0 : 3.0);
    late.Finished(kBytes, way == StageWay{.by_slices = true} ? 1.0 : 3.0);
  }
  EXPECT_EQ(early.Next(kBytes), late.Next(kBytes));
  // The next operation, of any size: now both boards are known to be complete.
  early.Finished(4, 0);
  late.Finished(4, 0);
  EXPECT_EQ(early.Next(kBytes), (StageWay{.by_slices = true}));
  EXPECT_EQ(late.Next(kBytes), (StageWay{.by_slices = true}));
}

TEST(StageWaysTest, WhatIsTinyOrAloneIsNotTried) {
  Members two(2);
  EXPECT_FALSE(two.member(0).IsTrial(1023));
  EXPECT_TRUE(two.member(0).IsTrial(1024));
  EXPECT_EQ(two.Next(4), StageWay{});
  Members alone(1);
  EXPECT_FALSE(alone.member(0).IsTrial(kBytes));
  for (int i = 0; i < 100; ++i) alone.Run(kBytes, [](int, StageWay) { return 1.0; });
  EXPECT_EQ(alone.Next(kBytes), StageWay{});
}

TEST(StageWaysTest, ManyRanksNeverReadAllOfALargeBucket) {
  for (const StageWay& way : StageWays::Possible(5, 64 << 10)) EXPECT_TRUE(way.by_slices);
  for (const StageWay& way : StageWays::Possible(17, 1 << 30)) EXPECT_TRUE(way.by_slices);
}

// A choice among two ways must not be used for a size in the same class that has only one.
TEST(StageWaysTest, ChoiceOfAClassDoesNotReachBelowIt) {
  Members members(2);
  const StageWay cached{};
  for (int i = 0; i < TrialsOf(2, 1024) + 1; ++i) {
    members.Run(1024, [&](int, StageWay way) { return way == cached ? 1.0 : 2.0; });
  }
  EXPECT_EQ(members.Next(1024), cached);
  EXPECT_EQ(members.Next(1000), cached);
}

}  // namespace
}  // namespace horovodx::collectives

#include "horovodx/collectives/ring_strand.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include "tests/support/in_process_world.h"

namespace horovodx::collectives {
namespace {

using testing_support::InProcessWorld;

// Runs the strand to its end without anything beside.
Status Finish(Team& team, RingStrand& strand) {
  team.SetCompanion(&strand);
  Status status = Status::Ok();
  while (status.ok() && strand.finished() < strand.added()) {
    auto moved = strand.Pump();
    status = moved.status();
    const bool blocked = status.ok() && *moved == 0 && strand.finished() < strand.added();
    if (blocked) status = team.AwaitCompanion();
  }
  team.SetCompanion(nullptr);
  return status;
}

std::vector<int> Input(std::size_t count, int rank) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), rank * 1000);
  return values;
}

std::vector<int> Sum(std::size_t count, int ranks) {
  std::vector<int> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = ranks * static_cast<int>(i) + 1000 * ranks * (ranks - 1) / 2;
  }
  return values;
}

Team All(Team& team) {
  std::vector<int> all(static_cast<std::size_t>(team.size()));
  std::iota(all.begin(), all.end(), 0);
  return team.Sub(all);
}

TEST(RingStrandTest, RingsOfAllSizesOneAfterAnother) {
  // Nothing, less than ranks, one half, two halves, several windows.
  const std::vector<std::size_t> counts = {0, 1, 3, 1'000, 40'001, 0, 333'333, 7};
  for (const int ranks : {1, 2, 3, 5}) {
    InProcessWorld world(ranks);
    world.Run([&](Team& team) {
      std::vector<std::vector<int>> values;
      for (const std::size_t count : counts) values.push_back(Input(count, team.rank()));
      RingStrand strand(ReduceOp::kSum);
      for (auto& v : values) strand.Add(All(team), v);
      ASSERT_TRUE(Finish(team, strand).ok());
      for (const auto& v : values) EXPECT_EQ(v, Sum(v.size(), team.size())) << v.size();
    });
  }
}

TEST(RingStrandTest, SendsWhatTheFormulaSays) {
  for (const std::size_t count : {6u, 6'000u, 60'000u, 600'000u}) {
    InProcessWorld world(3);
    world.Run([&](Team& team) {
      std::vector<int> values = Input(count, team.rank());
      RingStrand strand(ReduceOp::kSum);
      strand.Add(All(team), values);
      ASSERT_TRUE(Finish(team, strand).ok());
      const Cost cost = CostOfRingStrand(3, count * sizeof(int));
      EXPECT_EQ(team.traffic().messages, cost.messages) << count;
      EXPECT_NEAR(static_cast<double>(team.traffic().bytes), cost.bytes, 64.0) << count;
    });
  }
}

TEST(RingStrandTest, GoesOnWhileOthersBlock) {
  // Columns {0, 2} and {1, 3} run a ring beside messages in the rows {0, 1} and {2, 3}, of which
  // one side always comes late: it has waited for its ring first.
  InProcessWorld world(4);
  world.Run([](Team& team) {
    const int column = team.rank() % 2;
    const int mate = team.rank() ^ 1;
    std::vector<int> values = Input(200'000, team.rank() / 2);
    RingStrand strand(ReduceOp::kSum);
    strand.Add(team.Sub({column, column + 2}), values);
    int got = -1;
    if (column == 0) {
      team.SetCompanion(&strand);
      ASSERT_TRUE(team.Receive(mate, MutableBytesOf(&got, sizeof got)).ok());
      team.SetCompanion(nullptr);
      EXPECT_EQ(strand.finished(), 1u) << "it moved while the message was waited for";
    } else {
      ASSERT_TRUE(Finish(team, strand).ok());
      // Late enough for column 0's ring to be at its end whoever is slow.
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      ASSERT_TRUE(team.Send(mate, BytesOf(&mate, sizeof mate)).ok());
      got = team.rank();
    }
    EXPECT_EQ(got, team.rank());
    ASSERT_TRUE(Finish(team, strand).ok());
    EXPECT_EQ(values, Sum(200'000, 2));
  });
}

TEST(RingStrandTest, WhatIsDestroyedHalfWayIsGivenUp) {
  InProcessWorld world(2);
  world.Run([](Team& team) {
    std::vector<int> values = Input(300'000, team.rank());
    team.EnterEpoch(1);
    {
      RingStrand strand(ReduceOp::kSum);
      strand.Add(All(team), values);
      ASSERT_TRUE(strand.Pump().ok());  // some frames are on their way
    }
    team.EnterEpoch(2);
    std::vector<int> anew = Input(50'000, team.rank());
    RingStrand strand(ReduceOp::kSum);
    strand.Add(All(team), anew);
    ASSERT_TRUE(Finish(team, strand).ok());
    EXPECT_EQ(anew, Sum(50'000, 2));
  });
}

}  // namespace
}  // namespace horovodx::collectives

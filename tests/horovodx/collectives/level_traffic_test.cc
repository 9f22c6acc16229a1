#include "horovodx/collectives/level_traffic.h"

#include <gtest/gtest.h>

namespace horovodx::collectives {
namespace {

using A = AllreduceAlgorithm;

SelectInput On(int hosts, int local, std::size_t bytes) {
  return {.bytes = bytes, .ranks = hosts * local, .hosts = hosts, .ranks_per_host = local};
}

TEST(LevelTrafficTest, OneLevelIsWhatTheAlgorithmCountsOfItself) {
  for (A algorithm : AllAllreduceAlgorithms()) {
    for (int ranks : {2, 3, 6}) {
      const LevelTraffic inside = LevelTrafficOf(algorithm, On(1, ranks, 1000));
      EXPECT_EQ(inside.host.steps, CostOfAllreduce(algorithm, On(1, ranks, 1000)).steps);
      EXPECT_EQ(inside.net.steps, 0u);
      const LevelTraffic between = LevelTrafficOf(algorithm, On(ranks, 1, 1000));
      EXPECT_EQ(between.net.path_bytes, CostOfAllreduce(algorithm, On(ranks, 1, 1000)).path_bytes);
      EXPECT_EQ(between.host.steps, 0u);
    }
  }
}

TEST(LevelTrafficTest, NothingTravelsAmongOne) {
  for (A algorithm : AllAllreduceAlgorithms()) {
    const LevelTraffic t = LevelTrafficOf(algorithm, On(1, 1, 1 << 20));
    EXPECT_EQ(t.host.steps + t.net.steps, 0u);
    EXPECT_EQ(t.host.path_bytes + t.net.path_bytes, 0.0);
  }
}

TEST(LevelTrafficTest, WhatFollowsRankZeroIsPartOfTheWhole) {
  for (A algorithm : AllAllreduceAlgorithms()) {
    for (const auto& [hosts, local] : {std::pair(1, 5), std::pair(4, 1), std::pair(3, 2)}) {
      const LevelTraffic t = LevelTrafficOf(algorithm, On(hosts, local, 100'000));
      EXPECT_LE(t.host_after_first.steps, t.host.steps) << NameOf(algorithm);
      EXPECT_LE(t.net_after_first.steps, t.net.steps) << NameOf(algorithm);
      EXPECT_LE(t.host_after_first.path_bytes, t.host.path_bytes + 1) << NameOf(algorithm);
      EXPECT_LE(t.net_after_first.path_bytes, t.flows * t.net.path_bytes + 1) << NameOf(algorithm);
    }
  }
  EXPECT_EQ(LevelTrafficOf(A::kTree, On(4, 1, 100)).net_after_first.steps, 2u);
  EXPECT_EQ(LevelTrafficOf(A::kRing, On(4, 1, 100)).net_after_first.steps, 0u);
}

TEST(LevelTrafficTest, UnevenHostsCountAsTheAverageRoundedUp) {
  SelectInput uneven = On(2, 2, 1000);
  uneven.ranks = 3;
  uneven.ranks_per_host = 0;
  EXPECT_EQ(LevelTrafficOf(A::kHierarchical, uneven).host.steps,
            LevelTrafficOf(A::kHierarchical, On(2, 2, 1000)).host.steps);
}

}  // namespace
}  // namespace horovodx::collectives

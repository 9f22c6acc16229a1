#include "horovodx/collectives/allreduce_all_to_all.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "horovodx/collectives/allreduce_round_robin.h"
#include "tests/horovodx/collectives/allreduce_suite.h"
#include "tests/support/in_process_world.h"

namespace horovodx::collectives {
namespace {

using topology::HostMap;

TEST(AllreduceAllToAllTest, HoldsToTheSuite) {
  testing_suite::RunSuite(AllreduceAllToAll, testing_suite::OneHostWorlds());
}

TEST(AllreduceAllToAllTest, SendsWhatTheFormulaSays) {
  using testing_suite::kEvenCount;
  for (int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16}) {
    testing_suite::ExpectCost(AllreduceAllToAll, HostMap::OneHost(ranks), kEvenCount,
                              CostOfAllToAll(ranks, kEvenCount * 4));
  }
  // More than one message, or one window, holds.
  for (int ranks : {2, 3, 4}) {
    testing_suite::ExpectCost(AllreduceAllToAll, HostMap::OneHost(ranks), 1'200'000,
                              CostOfAllToAll(ranks, 1'200'000 * 4));
  }
  EXPECT_EQ(CostOfAllToAll(4, 4000).steps, 2u);
  EXPECT_EQ(CostOfAllToAll(4, 4000).bytes, 6000.0);
}

TEST(AllreduceAllToAllTest, KeepsInputsWhenARankStaysAway) {
  testing_suite::ExpectInputsKeptWhenARankStaysAway(AllreduceAllToAll, HostMap::OneHost(4));
}

std::vector<float> RandomFloats(int rank, std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(rank) + 1);
  std::uniform_real_distribution<float> value(-1, 1);
  std::vector<float> x(count);
  for (float& v : x) v = value(random);
  return x;
}

// Rounded sums depend on their order: the same bits mean the same order.
TEST(AllreduceAllToAllTest, BitsDependNeitherOnMergingNorOnTheTwinAlgorithm) {
  testing_support::InProcessWorld world(5);
  world.Run([](Team& team) {
    constexpr std::size_t kCount = 300'001;  // two windows, uneven chunks
    const std::vector<float> input = RandomFloats(team.rank(), kCount);
    std::vector<float> merged = input;
    ASSERT_TRUE(AllreduceAllToAll(team, merged, ReduceOp::kSum).ok());
    std::vector<float> apart = input;
    for (std::size_t at = 0, count = 1; at < kCount; at += count, count = count * 3 + 1) {
      count = std::min(count, kCount - at);
      const MutableBuffer one(ElementType::kFloat32, apart.data() + at, count);
      ASSERT_TRUE(AllreduceAllToAll(team, one, ReduceOp::kSum).ok());
    }
    EXPECT_EQ(apart, merged);
    std::vector<float> twin = input;
    ASSERT_TRUE(AllreduceRoundRobin(team, twin, ReduceOp::kSum).ok());
    EXPECT_EQ(twin, merged);
  });
}

}  // namespace
}  // namespace horovodx::collectives

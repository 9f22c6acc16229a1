#include "horovodx/collectives/allreduce_round_robin.h"

#include <gtest/gtest.h>

#include "tests/horovodx/collectives/allreduce_suite.h"

namespace horovodx::collectives {
namespace {

using topology::HostMap;

TEST(AllreduceRoundRobinTest, HoldsToTheSuite) {
  testing_suite::RunSuite(AllreduceRoundRobin, testing_suite::OneHostWorlds());
}

TEST(AllreduceRoundRobinTest, SendsWhatTheFormulaSays) {
  using testing_suite::kEvenCount;
  for (int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16}) {
    testing_suite::ExpectCost(AllreduceRoundRobin, HostMap::OneHost(ranks), kEvenCount,
                              CostOfRoundRobin(ranks, kEvenCount * 4));
  }
  // More than one message, or one window, holds.
  for (int ranks : {2, 3, 4}) {
    testing_suite::ExpectCost(AllreduceRoundRobin, HostMap::OneHost(ranks), 1'200'000,
                              CostOfRoundRobin(ranks, 1'200'000 * 4));
  }
  EXPECT_EQ(CostOfRoundRobin(4, 4000).steps, 1u);
  EXPECT_EQ(CostOfRoundRobin(4, 4000).bytes, 12000.0);
}

TEST(AllreduceRoundRobinTest, KeepsInputsWhenARankStaysAway) {
  testing_suite::ExpectInputsKeptWhenARankStaysAway(AllreduceRoundRobin, HostMap::OneHost(3));
}

}  // namespace
}  // namespace horovodx::collectives

#include "horovodx/collectives/allreduce_recursive_doubling.h"

#include <gtest/gtest.h>

#include "tests/horovodx/collectives/allreduce_suite.h"

namespace horovodx::collectives {
namespace {

using topology::HostMap;

TEST(AllreduceRecursiveDoublingTest, HoldsToTheSuite) {
  testing_suite::RunSuite(AllreduceRecursiveDoubling, testing_suite::OneHostWorlds());
}

TEST(AllreduceRecursiveDoublingTest, SendsWhatTheFormulaSays) {
  using testing_suite::kEvenCount;
  for (int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16}) {
    testing_suite::ExpectCost(AllreduceRecursiveDoubling, HostMap::OneHost(ranks), kEvenCount,
                              CostOfRecursiveDoubling(ranks, kEvenCount * 4));
  }
  // More than one message, or one window, holds.
  for (int ranks : {2, 3, 4}) {
    testing_suite::ExpectCost(AllreduceRecursiveDoubling, HostMap::OneHost(ranks), 1'200'000,
                              CostOfRecursiveDoubling(ranks, 1'200'000 * 4));
  }
  EXPECT_EQ(CostOfRecursiveDoubling(8, 100).steps, 3u);
  EXPECT_EQ(CostOfRecursiveDoubling(8, 100).bytes, 300.0);
  EXPECT_EQ(CostOfRecursiveDoubling(9, 100).steps, 5u);
}

}  // namespace
}  // namespace horovodx::collectives

#include "horovodx/collectives/allreduce_tree.h"

#include <gtest/gtest.h>

#include "tests/horovodx/collectives/allreduce_suite.h"

namespace horovodx::collectives {
namespace {

using topology::HostMap;

TEST(AllreduceTreeTest, HoldsToTheSuite) {
  testing_suite::RunSuite(AllreduceTree, testing_suite::OneHostWorlds());
}

TEST(AllreduceTreeTest, SendsWhatTheFormulaSays) {
  using testing_suite::kEvenCount;
  for (int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16}) {
    testing_suite::ExpectCost(AllreduceTree, HostMap::OneHost(ranks), kEvenCount,
                              CostOfTree(ranks, kEvenCount * 4));
  }
  // More than one message, or one window, holds.
  for (int ranks : {2, 3, 4}) {
    testing_suite::ExpectCost(AllreduceTree, HostMap::OneHost(ranks), 1'200'000,
                              CostOfTree(ranks, 1'200'000 * 4));
  }
  EXPECT_EQ(CostOfTree(8, 100).steps, 6u);
  EXPECT_EQ(CostOfTree(9, 100).steps, 8u);
  EXPECT_EQ(CostOfTree(9, 100).bytes, 400.0);
}

}  // namespace
}  // namespace horovodx::collectives

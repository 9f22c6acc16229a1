#include "horovodx/collectives/allreduce_recursive_halving_doubling.h"

#include <gtest/gtest.h>

#include "tests/horovodx/collectives/allreduce_suite.h"

namespace horovodx::collectives {
namespace {

using topology::HostMap;

TEST(AllreduceRecursiveHalvingDoublingTest, HoldsToTheSuite) {
  testing_suite::RunSuite(AllreduceRecursiveHalvingDoubling, testing_suite::OneHostWorlds());
}

TEST(AllreduceRecursiveHalvingDoublingTest, SendsWhatTheFormulaSays) {
  using testing_suite::kEvenCount;
  for (int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16}) {
    testing_suite::ExpectCost(AllreduceRecursiveHalvingDoubling, HostMap::OneHost(ranks),
                              kEvenCount, CostOfRecursiveHalvingDoubling(ranks, kEvenCount * 4));
  }
  // More than one message, or one window, holds.
  for (int ranks : {2, 3, 4}) {
    testing_suite::ExpectCost(AllreduceRecursiveHalvingDoubling, HostMap::OneHost(ranks), 1'200'000,
                              CostOfRecursiveHalvingDoubling(ranks, 1'200'000 * 4));
  }
  EXPECT_EQ(CostOfRecursiveHalvingDoubling(8, 8000).steps, 6u);
  EXPECT_EQ(CostOfRecursiveHalvingDoubling(8, 8000).bytes, 2 * 7000.0);
  EXPECT_EQ(CostOfRecursiveHalvingDoubling(9, 8000).steps, 8u);
}

}  // namespace
}  // namespace horovodx::collectives

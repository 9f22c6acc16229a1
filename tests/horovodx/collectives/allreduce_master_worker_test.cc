#include "horovodx/collectives/allreduce_master_worker.h"

#include <gtest/gtest.h>

#include "tests/horovodx/collectives/allreduce_suite.h"

namespace horovodx::collectives {
namespace {

using topology::HostMap;

TEST(AllreduceMasterWorkerTest, HoldsToTheSuite) {
  testing_suite::RunSuite(AllreduceMasterWorker, testing_suite::OneHostWorlds());
}

TEST(AllreduceMasterWorkerTest, SendsWhatTheFormulaSays) {
  using testing_suite::kEvenCount;
  for (int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16}) {
    testing_suite::ExpectCost(AllreduceMasterWorker, HostMap::OneHost(ranks), kEvenCount,
                              CostOfMasterWorker(ranks, kEvenCount * 4));
  }
  // More than one message, or one window, holds.
  for (int ranks : {2, 3, 4}) {
    testing_suite::ExpectCost(AllreduceMasterWorker, HostMap::OneHost(ranks), 1'200'000,
                              CostOfMasterWorker(ranks, 1'200'000 * 4));
  }
  EXPECT_EQ(CostOfMasterWorker(5, 100).steps, 8u);
  EXPECT_EQ(CostOfMasterWorker(5, 100).bytes, 400.0);
}

}  // namespace
}  // namespace horovodx::collectives

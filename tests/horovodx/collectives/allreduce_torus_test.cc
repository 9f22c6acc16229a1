#include "horovodx/collectives/allreduce_torus.h"

#include <gtest/gtest.h>

#include "horovodx/collectives/patterns/torus.h"
#include "tests/horovodx/collectives/allreduce_suite.h"

namespace horovodx::collectives {
namespace {

using topology::HostMap;

TEST(AllreduceTorusTest, HoldsToTheSuiteOnHosts) {
  testing_suite::RunSuite(AllreduceTorus, testing_suite::HostWorlds());
}

TEST(AllreduceTorusTest, HoldsToTheSuiteOnOneHost) {
  testing_suite::RunSuite(AllreduceTorus, testing_suite::OneHostWorlds());
}

TEST(AllreduceTorusTest, KeepsInputsWhenARankStaysAway) {
  testing_suite::ExpectInputsKeptWhenARankStaysAway(AllreduceTorus, HostMap::OneHost(4));
}

TEST(AllreduceTorusTest, SendsWhatTheFormulaSays) {
  using testing_suite::kEvenCount;
  for (int ranks : {1, 2, 3, 4, 6, 7, 8, 9, 12, 16}) {
    const TorusShape shape = NearestFactors(ranks);
    testing_suite::ExpectCost(AllreduceTorus, HostMap::OneHost(ranks), kEvenCount,
                              CostOfTorus(shape.rows, shape.columns, kEvenCount * 4));
  }
  testing_suite::ExpectCost(AllreduceTorus, HostMap::Grid(2, 6), kEvenCount,
                            CostOfTorus(2, 6, kEvenCount * 4));
  // Several windows, the last one short.
  testing_suite::ExpectCost(AllreduceTorus, HostMap::OneHost(4), 400'000,
                            CostOfTorus(2, 2, 400'000 * 4));
  EXPECT_EQ(CostOfTorus(4, 4, 16'000).steps, 12u);
  EXPECT_EQ(CostOfTorus(4, 4, 16'000).bytes, CostOfRing(16, 16'000).bytes);
}

}  // namespace
}  // namespace horovodx::collectives

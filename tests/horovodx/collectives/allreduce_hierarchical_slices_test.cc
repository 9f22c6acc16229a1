#include "horovodx/collectives/allreduce_hierarchical_slices.h"

#include <gtest/gtest.h>

#include "tests/horovodx/collectives/allreduce_suite.h"

namespace horovodx::collectives {
namespace {

using topology::HostMap;

TEST(AllreduceHierarchicalSlicesTest, HoldsToTheSuiteOnHosts) {
  testing_suite::RunSuite(AllreduceHierarchicalSlices, testing_suite::HostWorlds());
}

TEST(AllreduceHierarchicalSlicesTest, HoldsToTheSuiteOnOneHost) {
  testing_suite::RunSuite(AllreduceHierarchicalSlices,
                          {HostMap::OneHost(1), HostMap::OneHost(4), HostMap::OneHost(7)});
}

TEST(AllreduceHierarchicalSlicesTest, KeepsInputsWhenARankStaysAway) {
  testing_suite::ExpectInputsKeptWhenARankStaysAway(AllreduceHierarchicalSlices,
                                                    HostMap::Grid(2, 2));
  testing_suite::ExpectInputsKeptWhenARankStaysAway(AllreduceHierarchicalSlices,
                                                    HostMap({"a", "b", "b", "b"}));
}

TEST(AllreduceHierarchicalSlicesTest, SendsWhatTheFormulaSays) {
  using testing_suite::kEvenCount;
  for (const auto& [hosts, each] : {std::pair{1, 1}, {1, 5}, {2, 2}, {3, 4}, {4, 3}, {6, 1}}) {
    testing_suite::ExpectCost(AllreduceHierarchicalSlices, HostMap::Grid(hosts, each), kEvenCount,
                              CostOfHierarchicalSlices(hosts * each, hosts, kEvenCount * 4));
  }
  // Several windows, the last one short.
  testing_suite::ExpectCost(AllreduceHierarchicalSlices, HostMap::Grid(2, 2), 400'000,
                            CostOfHierarchicalSlices(4, 2, 400'000 * 4));
  EXPECT_EQ(CostOfHierarchicalSlices(12, 3, 12'000).steps, 2u * 3u + 2u * 2u);
  EXPECT_EQ(CostOfHierarchicalSlices(12, 3, 12'000).bytes, 2 * 9'000.0 + 2 * 2'000.0);
}

}  // namespace
}  // namespace horovodx::collectives

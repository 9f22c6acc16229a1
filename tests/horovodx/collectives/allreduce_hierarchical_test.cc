#include "horovodx/collectives/allreduce_hierarchical.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/horovodx/collectives/allreduce_suite.h"
#include "tests/support/in_process_world.h"

namespace horovodx::collectives {
namespace {

using topology::HostMap;

template <int kSize>
Status InGroupsOf(Team& team, const MutableBuffer& buffer, ReduceOp op) {
  return AllreduceHierarchical(team, buffer, op, kSize);
}

TEST(AllreduceHierarchicalTest, HoldsToTheSuiteOnHosts) {
  testing_suite::RunSuite(AllreduceHierarchical, testing_suite::HostWorlds());
}

TEST(AllreduceHierarchicalTest, HoldsToTheSuiteInGroupsOfAGivenSize) {
  testing_suite::RunSuite(InGroupsOf<3>, testing_suite::OneHostWorlds());
  testing_suite::RunSuite(InGroupsOf<1>, {HostMap::OneHost(5)});
  testing_suite::RunSuite(InGroupsOf<100>, {HostMap::OneHost(5)});
}

TEST(AllreduceHierarchicalTest, GroupsOfNobodyAreAnError) {
  testing_support::InProcessWorld world(2);
  world.Run([](Team& team) {
    std::vector<int> x(3);
    const Status status = AllreduceHierarchical(team, x, ReduceOp::kSum, 0);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), testing::HasSubstr("groups of 0"));
  });
}

TEST(AllreduceHierarchicalTest, SendsWhatTheFormulaSays) {
  using testing_suite::kEvenCount;
  for (const auto& [hosts, each] : {std::pair{1, 1}, {1, 5}, {2, 2}, {3, 4}, {4, 3}, {6, 1}}) {
    testing_suite::ExpectCost(AllreduceHierarchical, HostMap::Grid(hosts, each), kEvenCount,
                              CostOfHierarchical(hosts * each, hosts, kEvenCount * 4));
  }
  testing_suite::ExpectCost(AllreduceHierarchical, HostMap::Grid(2, 4), 1'200'000,
                            CostOfHierarchical(8, 2, 1'200'000 * 4));
  testing_suite::ExpectCost(InGroupsOf<4>, HostMap::OneHost(8), kEvenCount,
                            CostOfHierarchical(8, 2, kEvenCount * 4));
  for (const auto& [hosts, each] : {std::pair{2, 2}, {3, 2}, {4, 3}}) {  // masters in few steps
    testing_suite::ExpectCost(AllreduceHierarchical, HostMap::Grid(hosts, each), 25,
                              CostOfHierarchical(hosts * each, hosts, 100));
  }
  EXPECT_EQ(CostOfHierarchical(32, 4, 100).steps, 2u * 3u + 2u);
  EXPECT_EQ(CostOfHierarchical(32, 4, 8 << 10).steps, 2u * 3u + 2u * 3u);
}

}  // namespace
}  // namespace horovodx::collectives

#include "horovodx/collectives/tree_passes.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/in_process_world.h"

namespace horovodx::collectives {
namespace {

using testing_support::InProcessWorld;

TEST(TreePassesTest, RootHoldsTheSumAndThenEverybodyHoldsTheRoots) {
  for (int ranks : {1, 2, 5, 8}) {
    InProcessWorld world(ranks);
    world.Run([](Team& team) {
      std::vector<int> x(300'000, team.rank() + 1);
      ASSERT_TRUE(ReduceToRoot(team, x, ReduceOp::kSum).ok());
      if (team.rank() == 0) {
        EXPECT_EQ(x, std::vector<int>(x.size(), team.size() * (team.size() + 1) / 2));
        x.assign(x.size(), 77);
      }
      ASSERT_TRUE(SpreadFromRoot(team, x).ok());
      EXPECT_EQ(x, std::vector<int>(x.size(), 77));
    });
  }
}

TEST(TreePassesTest, AboveAMessageALeafSendsMoreMessagesThanTheRoot) {
  EXPECT_EQ(TreeMessagesBelowRoot(1, 5 << 20), 0u);
  EXPECT_EQ(TreeMessagesBelowRoot(2, 5 << 20), 5u);
  EXPECT_EQ(TreeMessagesBelowRoot(8, 100), 1u + 2u);
}

}  // namespace
}  // namespace horovodx::collectives

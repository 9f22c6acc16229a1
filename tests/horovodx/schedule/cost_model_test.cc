#include "horovodx/schedule/cost_model.h"

#include <gtest/gtest.h>

namespace horovodx::schedule {
namespace {

TEST(CostModelTest, APieceRunsUpToTheNext) {
  const auto cost = CostModel::Of({{0, 1.0, 2.0}, {10, 100.0, 0.5}, {20, 200.0, 0.0}});
  EXPECT_EQ(cost.latency(), 1);
  EXPECT_EQ(cost.Seconds(9), 19);
  EXPECT_EQ(cost.Seconds(10), 105);
  EXPECT_EQ(cost.Seconds(19), 109.5);
  EXPECT_EQ(cost.Seconds(1u << 30), 200);
}

TEST(CostModelTest, AFunctionIsAsked) {
  const auto cost = CostModel::Of([](std::uint64_t bytes) { return 7.0 + bytes / 3; });
  EXPECT_TRUE(cost.pieces().empty());
  EXPECT_EQ(cost.Seconds(8), 9);
  EXPECT_EQ(cost.latency(), 7);
}

TEST(CostModelTest, NothingSaidNothingCosts) { EXPECT_EQ(CostModel().Seconds(1000), 0.0); }

}  // namespace
}  // namespace horovodx::schedule

#include "horovodx/negotiation/plan_cursor.h"

#include <gtest/gtest.h>

namespace horovodx::negotiation {
namespace {

PlanCursor MakePlan(const std::vector<std::vector<std::string>>& names) {
  std::vector<Bucket> buckets;
  for (const auto& bucket : names) {
    buckets.emplace_back();
    for (const auto& name : bucket) buckets.back().entries.push_back({name, 1, {1}, {}});
  }
  auto plan = PlanCursor::Make(std::move(buckets));
  EXPECT_TRUE(plan.ok());
  return std::move(plan).value();
}

TEST(PlanCursorTest, ABucketIsCompleteWithItsLastTensor) {
  PlanCursor plan = MakePlan({{"a", "b"}, {"c"}});
  EXPECT_EQ(plan.missing(), 2u);
  plan.Add("b");
  EXPECT_FALSE(plan.complete());
  plan.Add("a");
  EXPECT_TRUE(plan.complete());
}

TEST(PlanCursorTest, WhatTheCursorHasPassedBelongsToTheNextRound) {
  PlanCursor plan = MakePlan({{"a"}, {"b"}});
  plan.Add("a");
  plan.Advance();
  plan.Add("a");
  EXPECT_FALSE(plan.complete());
  EXPECT_FALSE(plan.Reachable("a"));
  plan.Add("b");
  EXPECT_TRUE(plan.Reachable("b"));
  EXPECT_TRUE(plan.Reachable("a"));
  plan.Advance();
  EXPECT_EQ(plan.cursor(), 2u);
  EXPECT_TRUE(plan.complete());
}

TEST(PlanCursorTest, ATensorIsNotReachableBehindAnIncompleteBucket) {
  PlanCursor plan = MakePlan({{"a"}, {"b", "c"}});
  plan.Add("b");
  EXPECT_FALSE(plan.Reachable("b"));
  plan.Add("c");
  EXPECT_FALSE(plan.Reachable("b"));
  plan.Add("a");
  EXPECT_TRUE(plan.Reachable("b"));
}

TEST(PlanCursorTest, RefusesWhatIsNoPlan) {
  EXPECT_FALSE(PlanCursor::Make({}).ok());
  EXPECT_FALSE(PlanCursor::Make({Bucket{}}).ok());
  Bucket twice;
  twice.entries = {{"a", 1, {1}, {}}, {"a", 1, {1}, {}}};
  EXPECT_FALSE(PlanCursor::Make({twice}).ok());
}

}  // namespace
}  // namespace horovodx::negotiation

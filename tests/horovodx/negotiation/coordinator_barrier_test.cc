// Barriers and plans: neither ends the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/horovodx/negotiation/coordinator_fixture.h"

namespace horovodx::negotiation {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(CoordinatorTest, ABarrierPassesAPlan) {
  ReachPlan();
  const Request barrier = MakeRequest("wait", Kind::kBarrier);
  Ask(0, {barrier}, 1);
  EXPECT_THAT(NamesRun(), IsEmpty()) << "rank 1 has not come";
  Ask(1, {barrier, MakeRequest("x")}, 1);
  EXPECT_THAT(NamesRun(), ElementsAre("wait")) << "nothing else may be asked for in a plan";
  Say(1, Leave{0, 1, 4});
  EXPECT_THAT(Take<EndPlan>(), SizeIs(1));
}

TEST_F(CoordinatorTest, AskingForABarrierInAPlanIsVoidAfterIt) {
  ReachPlan();
  const Request barrier = MakeRequest("wait", Kind::kBarrier);
  Ask(0, {barrier}, 1);
  Say(1, Leave{0, 1, 4});
  EXPECT_THAT(Take<EndPlan>(), SizeIs(1));
  Ask(1, {barrier}, 1);  // said before it heard of the end
  Ask(1, {barrier}, 2);
  EXPECT_THAT(NamesRun(), IsEmpty());
  Ask(0, {barrier}, 2);
  EXPECT_THAT(NamesRun(), ElementsAre("wait"));
}

TEST_F(CoordinatorTest, WhatWasAgreedOnInAPlanIsSaidBeforeItsEnd) {
  ReachPlan();
  AskBoth({MakeRequest("wait", Kind::kBarrier)}, 1);
  Say(1, Leave{0, 1, 4});
  const auto sent = coordinator->TakeMessages();
  ASSERT_THAT(sent, SizeIs(2));
  EXPECT_TRUE(std::holds_alternative<negotiation::Run>(sent[0].message));
  EXPECT_TRUE(std::holds_alternative<EndPlan>(sent[1].message));
}

TEST_F(CoordinatorTest, StepsRepeatWhateverBarriersComeBetween) {
  std::vector<StartPlan> plans;
  for (int step = 0; step < 10 && plans.empty(); ++step) {
    AskBoth({MakeRequest("a"), MakeRequest("b")});
    plans = Take<StartPlan>();
    if (!plans.empty()) break;
    AskBoth({MakeRequest("wait", Kind::kBarrier)});
    (void)coordinator->TakeMessages();
  }
  EXPECT_THAT(plans, SizeIs(1));
}

TEST_F(CoordinatorTest, WhoWaitsAtABarrierDoesNotHoldUpAPlan) {
  Ask(0, {MakeRequest("wait", Kind::kBarrier)});
  ReachPlan();
  AskBoth({MakeRequest("wait", Kind::kBarrier)}, 1);
  EXPECT_THAT(NamesRun(), ElementsAre("wait"));
}

}  // namespace
}  // namespace horovodx::negotiation

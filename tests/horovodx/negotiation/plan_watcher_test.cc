#include "horovodx/negotiation/plan_watcher.h"

#include <gtest/gtest.h>

#include "tests/horovodx/negotiation/request_maker.h"

namespace horovodx::negotiation {
namespace {

// Runs a tensor; true if the watcher would have a plan before it.
bool Runs(PlanWatcher& watcher, const std::string& name, double second = 0,
          std::vector<std::int64_t> shape = {4, 2}) {
  const Requests requests = Shared({MakeRequest(name, Kind::kAllreduce, std::move(shape))});
  const bool plan = watcher.Repeats(name) && watcher.EndStep();
  Single single;
  single.bucket = Validate(requests, {{0}, 1000});
  watcher.Add(single, name, requests, AtSecond(second));
  return plan;
}

TEST(PlanWatcherTest, EqualStepsInAnyOrderMakeAPlan) {
  PlanWatcher watcher(2);
  EXPECT_FALSE(Runs(watcher, "a", 0));
  EXPECT_FALSE(Runs(watcher, "b", 3));
  EXPECT_FALSE(Runs(watcher, "b", 5));  // one step
  EXPECT_FALSE(Runs(watcher, "a", 6));
  EXPECT_TRUE(Runs(watcher, "a", 9));  // two
  const std::vector<Single> step = watcher.Step();
  ASSERT_EQ(step.size(), 2u);
  EXPECT_EQ(step[0].bucket.entries[0].name, "b");
  EXPECT_EQ(step[0].ready, 0.0);
  EXPECT_EQ(step[1].ready, 0.0);  // the earliest of both times
}

TEST(PlanWatcherTest, AnotherRequestStartsTheCountAgain) {
  PlanWatcher watcher(2);
  Runs(watcher, "a");
  Runs(watcher, "a", 0, {5});
  EXPECT_FALSE(Runs(watcher, "a", 0, {5}));
  EXPECT_TRUE(Runs(watcher, "a", 0, {5}));
  EXPECT_TRUE(watcher.Fits(MakeRequest("a", Kind::kAllreduce, {5}), 0));
  EXPECT_FALSE(watcher.Fits(MakeRequest("a"), 0));
  EXPECT_FALSE(watcher.Fits(MakeRequest("b"), 0));
}

TEST(PlanWatcherTest, ResetForgetsTheSteps) {
  PlanWatcher watcher(1);
  Runs(watcher, "a");
  watcher.Reset();
  EXPECT_FALSE(watcher.Repeats("a"));
}

TEST(PlanWatcherTest, APlanHardlyUsedMakesTheNextOneComeLaterAndCarefully) {
  PlanWatcher watcher(1);
  Runs(watcher, "a");
  EXPECT_TRUE(Runs(watcher, "a"));
  EXPECT_FALSE(watcher.cautious());
  watcher.PlanStarted();
  watcher.PlanEnded(0);
  Runs(watcher, "a");
  EXPECT_FALSE(Runs(watcher, "a"));
  EXPECT_TRUE(Runs(watcher, "a"));
  EXPECT_TRUE(watcher.cautious());
  watcher.PlanStarted();
  watcher.PlanEnded(100);
  Runs(watcher, "a");
  EXPECT_TRUE(Runs(watcher, "a"));
  EXPECT_FALSE(watcher.cautious());
}

TEST(PlanWatcherTest, TheStepOfAPlanThatServedWellIsSeenOnce) {
  PlanWatcher watcher(3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(Runs(watcher, "a"));
    EXPECT_FALSE(Runs(watcher, "b"));
    EXPECT_FALSE(watcher.IsProvenStep());
  }
  EXPECT_TRUE(Runs(watcher, "a"));
  watcher.PlanStarted();
  watcher.PlanEnded(100);
  watcher.Reset();  // a broadcast
  Runs(watcher, "a");
  EXPECT_FALSE(watcher.IsProvenStep());  // half of it
  Runs(watcher, "b");
  EXPECT_TRUE(watcher.IsProvenStep());
  EXPECT_TRUE(watcher.EndStep());
  watcher.PlanStarted();
  // This time the broadcast came at once, so the next plan comes as any other.
  watcher.PlanEnded(0);
  watcher.Reset();
  Runs(watcher, "a");
  Runs(watcher, "b");
  EXPECT_FALSE(watcher.IsProvenStep());
  EXPECT_FALSE(Runs(watcher, "a"));
}

TEST(PlanWatcherTest, AnotherStepThanThatOfTheLastPlanIsNotProven) {
  PlanWatcher watcher(1);
  Runs(watcher, "a");
  EXPECT_TRUE(Runs(watcher, "a"));
  watcher.PlanStarted();
  watcher.PlanEnded(100);
  Runs(watcher, "a", 0, {5});
  EXPECT_FALSE(watcher.IsProvenStep());
}

TEST(PlanWatcherTest, APlanEndedOnPurposeDoesNotMakeTheNextOneComeLater) {
  PlanWatcher watcher(1);
  Runs(watcher, "a");
  EXPECT_TRUE(Runs(watcher, "a"));
  watcher.PlanStarted();
  watcher.PlanEnded(1, true);
  Runs(watcher, "a");
  EXPECT_TRUE(Runs(watcher, "a"));
  EXPECT_FALSE(watcher.cautious());
}

TEST(PlanWatcherTest, OnlyWhatNeedsEveryMemberMayStandInAPlan) {
  const auto plannable = [](const Request& a, const Request& b) {
    return PlanWatcher::Plannable(Validate(Shared({a, b}), {{0, 1}, 1000}), 2);
  };
  for (Kind kind :
       {Kind::kAllreduce, Kind::kAdasum, Kind::kReducescatter, Kind::kAllgather, Kind::kAlltoall}) {
    EXPECT_TRUE(plannable(MakeRequest("x", kind), MakeRequest("x", kind))) << NameOf(kind);
    const Request nothing = MakeRequest("x", kind, {4, 0});
    EXPECT_FALSE(plannable(nothing, nothing)) << NameOf(kind);
  }
  for (Kind kind : {Kind::kBroadcast, Kind::kBarrier}) {
    EXPECT_FALSE(plannable(MakeRequest("x", kind), MakeRequest("x", kind))) << NameOf(kind);
  }
  EXPECT_FALSE(plannable(MakeRequest("x"), MakeRequest("x", Kind::kAllgather)));
  EXPECT_FALSE(plannable(MakeRequest("x", Kind::kReducescatter, {1, 2}),
                         MakeRequest("x", Kind::kReducescatter, {1, 2})));
  EXPECT_FALSE(plannable(MakeRequest("x", Kind::kAllgather, {1, 2}),
                         MakeRequest("x", Kind::kAllgather, {0, 2})));
}

}  // namespace
}  // namespace horovodx::negotiation

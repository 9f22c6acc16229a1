#include "horovodx/negotiation/plan_meter.h"

#include <gtest/gtest.h>

namespace horovodx::negotiation {
namespace {

constexpr std::uint64_t kBytes = 1'000'000;
const TimePoint kStart = TimePoint(std::chrono::hours(1));

// Three tensors that were thought to come all at once, on a line thought to be as given.
PlanMade Plan(const schedule::CostModel& cost, schedule::Buckets buckets) {
  PlanMade plan;
  plan.names = {"a", "b", "c"};
  for (const double ready : {0.0, 1e-3, 2e-3}) plan.tensors.push_back({ready, kBytes, 0, -1});
  plan.buckets = std::move(buckets);
  plan.rule = "optimal";
  plan.options.cost = cost;
  return plan;
}

// Rounds of the plan: tensors come at these times, a bucket takes a + b * bytes. How many were told
// until the plan should be made anew; 0 if it should not.
int RoundsUntilAnew(PlanMeter& meter, const PlanMade& plan, const std::vector<double>& ready,
                    double a, double b, int most = 2000) {
  std::uint64_t number = 0;
  for (int round = 1; round <= most; ++round) {
    for (const auto& part : plan.buckets) {
      Measured m{0, 1, true, number++, Kind::kAllreduce, part.size() * kBytes, 0.0, {}};
      m.seconds = a + b * static_cast<double>(m.bytes);
      for (const int t : part) m.submitted.push_back(kStart + Seconds(round + ready[t]));
      meter.Add(m);
      if (meter.AddPlanned(m)) return round;
    }
  }
  return 0;
}

const std::vector<double> kAsPlanned = {0.0, 1e-3, 2e-3};

TEST(PlanMeterTest, AsLongAsNothingMovesAPlanStays) {
  PlanMeter meter({});
  const PlanMade plan = Plan({10e-6, 1e-10}, {{0}, {1}, {2}});
  meter.PlanStarted(plan);
  EXPECT_EQ(RoundsUntilAnew(meter, plan, kAsPlanned, 10e-6, 1e-10), 0);
}

TEST(PlanMeterTest, ASlowerLineMakesItAnew) {
  PlanMeter meter({});
  // Where a message takes 5 ms, whatever its length, three are too many.
  const PlanMade plan = Plan({10e-6, 1e-10}, {{0}, {1}, {2}});
  meter.PlanStarted(plan);
  EXPECT_EQ(RoundsUntilAnew(meter, plan, kAsPlanned, 5e-3, 1e-12), 8);
  EXPECT_EQ(meter.made_anew(), 1u);
  EXPECT_NEAR(meter.cost().Seconds(kBytes), 5e-3, 1e-4);
}

TEST(PlanMeterTest, TensorsThatComeLaterMakeItAnewAndAreRemembered) {
  PlanMeter meter({});
  // b and c were to come soon after a; now they are so late that a should not wait for them.
  const PlanMade plan = Plan({100e-6, 1e-9}, {{0, 1, 2}});
  meter.PlanStarted(plan);
  EXPECT_EQ(RoundsUntilAnew(meter, plan, {0.0, 5e-3, 9e-3}, 100e-6, 1e-9), 8);
  EXPECT_NEAR(meter.ReadyOf("c", 7.0), 9e-3, 1e-6);
  EXPECT_EQ(meter.ReadyOf("d", 7.0), 7.0);
  meter.PlanStarted(plan);
  EXPECT_EQ(meter.ReadyOf("c", 7.0), 7.0);
}

TEST(PlanMeterTest, WhatMovesWithoutGainMakesNothingAnew) {
  PlanMeter meter({});
  // Four times as slow, but each alone is still best.
  const PlanMade plan = Plan({1e-6, 1e-10}, {{0}, {1}, {2}});
  meter.PlanStarted(plan);
  EXPECT_EQ(RoundsUntilAnew(meter, plan, kAsPlanned, 4e-6, 4e-10), 0);
}

TEST(PlanMeterTest, TheNextOneNeedsTwiceTheRounds) {
  PlanMeter meter({});
  const PlanMade plan = Plan({10e-6, 1e-10}, {{0}, {1}, {2}});
  for (const int rounds : {8, 16, 32}) {
    meter.PlanStarted(plan);
    EXPECT_EQ(RoundsUntilAnew(meter, plan, kAsPlanned, 5e-3, 1e-12), rounds);
  }
}

TEST(PlanMeterTest, AShareOfNothingIsNever) {
  PlanMeter meter({.share = 0.0});
  const PlanMade plan = Plan({10e-6, 1e-10}, {{0}, {1}, {2}});
  meter.PlanStarted(plan);
  EXPECT_EQ(RoundsUntilAnew(meter, plan, kAsPlanned, 5e-3, 1e-12), 0);
  EXPECT_NEAR(meter.cost().Seconds(kBytes), 5e-3, 1e-4);
}

TEST(PlanMeterTest, OtherRulesAndOtherKindsAreLeftAlone) {
  PlanMeter meter({});
  PlanMade plan = Plan({10e-6, 1e-10}, {{0}, {1}, {2}});
  plan.rule = "fusion";
  meter.PlanStarted(plan);
  EXPECT_EQ(RoundsUntilAnew(meter, plan, kAsPlanned, 5e-3, 1e-12), 0);
  const std::uint64_t before = meter.samples();
  meter.Add({0, 1, true, 0, Kind::kAllgather, kBytes, 1.0, {}});
  meter.Add({0, 1, true, 0, Kind::kAllreduce, 0, 1.0, {}});
  EXPECT_EQ(meter.samples(), before);
}

}  // namespace
}  // namespace horovodx::negotiation

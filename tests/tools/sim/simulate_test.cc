#include "tools/sim/simulate.h"

#include <gtest/gtest.h>

namespace horovodx::sim {
namespace {

// Three layers of 2 seconds; the last one is large.
const Workload kWork{4.0, 6.0, {{2, 8, 0, -1}, {4, 1, 0, -1}, {6, 1, 0, -1}}};
const schedule::Options kOptions{.cost = {3.0, 1.0}};

TEST(SimulateTest, AStepIsForwardBackwardAndWhatIsExposed) {
  const Step step = Simulate(kWork, "optimal", kOptions);
  EXPECT_EQ(step.seconds, 4 + 18);
  EXPECT_EQ(step.exposed, 12);
  EXPECT_EQ(step.busy, 11 + 5);
  EXPECT_EQ(Simulate(kWork, "wfbp", kOptions).seconds, 4 + 21);
}

TEST(SimulateTest, WhatIsHiddenCostsNothing) {
  const Step step = Simulate(kWork, "optimal", {.cost = {}});
  EXPECT_EQ(step.seconds, 10);
  EXPECT_EQ(step.exposed, 0);
}

TEST(SimulateTest, NoGradientsNoBuckets) {
  const Step step = Simulate({1.0, 2.0, {}}, "optimal", kOptions);
  EXPECT_EQ(step.seconds, 3);
  EXPECT_TRUE(step.buckets.empty());
}

TEST(SimulateSplitTest, GathersTravelInTheNextForwardPass) {
  // Each half takes 1.5 + bytes / 2. By itself: halves end at 7.5, 9.5, 11.5. Then gathers of the
  // first layer, 11.5 to 13.5, the second, to 15.5, the last, to 21; forward passes of 4/3 each
  // start at 13.5, 15.5 and 21.
  const Step step = SimulateSplit(kWork, "wfbp", kOptions);
  ASSERT_EQ(step.gathered.size(), 3u);
  EXPECT_EQ(step.played[2].end, 11.5);
  EXPECT_EQ(step.gathered[2].start, 11.5);
  EXPECT_EQ(step.gathered[2].end, 13.5);
  EXPECT_EQ(step.gathered[0].end, 21);
  EXPECT_DOUBLE_EQ(step.seconds, 21 + 4.0 / 3);
  EXPECT_DOUBLE_EQ(step.exposed, 21 + 4.0 / 3 - 10);
}

TEST(SimulateSplitTest, IsNeverSlowerWithTheSameBuckets) {
  for (const double bandwidth : {0.01, 0.1, 0.5, 2.0}) {
    const schedule::Options options{.cost = {0.5, bandwidth}};
    EXPECT_LE(SimulateSplit(kWork, "wfbp", options).seconds,
              Simulate(kWork, "wfbp", options).seconds);
  }
}

TEST(SimulateSplitTest, WhatIsHiddenCostsNothing) {
  EXPECT_DOUBLE_EQ(SimulateSplit(kWork, "optimal", {.cost = {}}).seconds, 10);
}

}  // namespace
}  // namespace horovodx::sim

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "horovodx/schedule/cut.h"

namespace horovodx::schedule {
namespace {

using testing::ElementsAre;

// A collective of b bytes takes 10 + b seconds.
const Options kSlow{.threshold = 100, .cost = {10.0, 1.0}};

TEST(FusionTest, WhatIsReadyWhenTheLineIsFreeLeavesTogether) {
  // 0 leaves at 0 and takes 11 seconds; 1 and 2 are ready by then, 3 is not.
  EXPECT_THAT(
      Cut("fusion", {{0, 1, 0, -1}, {2, 1, 0, -1}, {11, 1, 0, -1}, {11.5, 1, 0, -1}}, kSlow),
      ElementsAre(ElementsAre(0), ElementsAre(1, 2), ElementsAre(3)));
}

TEST(FusionTest, TheThresholdBoundsABucket) {
  EXPECT_THAT(Cut("fusion", {{0, 60, 0, -1}, {0, 40, 0, -1}, {0, 1, 0, -1}}, kSlow),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2)));
  EXPECT_THAT(Cut("fusion", {{0, 0, 0, -1}, {0, 0, 0, -1}}, {.threshold = 0, .cost = {10.0, 1.0}}),
              ElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST(FusionTest, OnlyNeighboursOfOneMixMerge) {
  EXPECT_THAT(Cut("fusion", {{0, 1, 0, -1}, {0, 1, 1, -1}, {0, 1, 0, -1}}, kSlow),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2)));
}

TEST(FusionTest, AGroupIsReadyWithItsLastTensor) {
  // Alone, 1 would leave with 0; its group comes later.
  EXPECT_THAT(Cut("fusion", {{0, 1, 0, -1}, {0, 1, 0, 3}, {50, 1, 0, 3}}, kSlow),
              ElementsAre(ElementsAre(0), ElementsAre(1, 2)));
}

TEST(FusionTest, WithoutCostsOnlyTheSameMomentMerges) {
  EXPECT_THAT(
      Cut("fusion", {{0, 1, 0, -1}, {0, 1, 0, -1}, {1, 1, 0, -1}}, {.threshold = 100, .cost = {}}),
      ElementsAre(ElementsAre(0, 1), ElementsAre(2)));
}

}  // namespace
}  // namespace horovodx::schedule

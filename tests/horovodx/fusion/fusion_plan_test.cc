#include "horovodx/fusion/fusion_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace horovodx::fusion {
namespace {

using testing::ElementsAre;

Item Sum(std::uint64_t bytes, ElementType type = ElementType::kFloat32, int group = -1) {
  Item item;
  item.family = Family::kAllreduce;
  item.type = type;
  item.bytes = bytes;
  item.group = group;
  return item;
}

TEST(FusionPlanTest, MergesUpToTheThreshold) {
  EXPECT_THAT(Fuse({Sum(40), Sum(60), Sum(1)}, {100, false}),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2)));
}

TEST(FusionPlanTest, LooksPastWhatDoesNotMatch) {
  const auto f16 = ElementType::kFloat16;
  EXPECT_THAT(Fuse({Sum(10), Sum(10, f16), Sum(10), Sum(10, f16)}, {100, false}),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
}

TEST(FusionPlanTest, StopsLookingWhenMergedAndPassedOverReachTheThreshold) {
  const auto f16 = ElementType::kFloat16;
  EXPECT_THAT(Fuse({Sum(50), Sum(60, f16), Sum(10)}, {100, false}),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2)));
  EXPECT_THAT(Fuse({Sum(50), Sum(50, f16), Sum(10)}, {100, false}),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1)));
}

TEST(FusionPlanTest, ThresholdZeroMergesNothingNotEvenNothing) {
  EXPECT_THAT(Fuse({Sum(0), Sum(0)}, {0, false}), ElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST(FusionPlanTest, LargerThanTheThresholdIsAlone) {
  EXPECT_THAT(Fuse({Sum(101), Sum(0), Sum(1)}, {100, false}),
              ElementsAre(ElementsAre(0), ElementsAre(1, 2)));
}

TEST(FusionPlanTest, SumsThatOverflowDoNotFit) {
  EXPECT_THAT(Fuse({Sum(10), Sum(~std::uint64_t{0})}, {100, false}),
              ElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST(FusionPlanTest, OnlyEqualsMerge) {
  Item scaled = Sum(1);
  scaled.prescale = 2;
  Item most = Sum(1);
  most.op = ReduceOp::kMax;
  Item gpu = Sum(1);
  gpu.device = 0;
  Item gather = Sum(1);
  gather.family = Family::kAllgather;
  Item single = Sum(1);
  single.family = Family::kSingle;
  for (const Item& other : {scaled, most, gpu, gather, single}) {
    EXPECT_FALSE(CanMerge(Sum(1), other));
  }
  EXPECT_FALSE(CanMerge(single, single));
  EXPECT_TRUE(CanMerge(gather, gather));
  Item apart = gather;  // a factor keeps it alone, though nothing is multiplied
  apart.prescale = 2;
  EXPECT_FALSE(CanMerge(gather, apart));
}

TEST(FusionPlanTest, WithGroupsApartEachGroupMergesWithItselfFirst) {
  const auto f32 = ElementType::kFloat32;
  EXPECT_THAT(Fuse({Sum(1), Sum(1, f32, 7), Sum(1), Sum(1, f32, 7), Sum(1, f32, 8)}, {100, true}),
              ElementsAre(ElementsAre(1, 3), ElementsAre(4), ElementsAre(0), ElementsAre(2)));
}

}  // namespace
}  // namespace horovodx::fusion

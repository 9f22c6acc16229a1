#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "horovodx/schedule/cut.h"

namespace horovodx::schedule {
namespace {

using testing::ElementsAre;

TEST(FixedTest, TheTensorThatFillsABucketClosesIt) {
  EXPECT_THAT(Cut("buckets", {{0, 4, 0, -1}, {9, 6, 0, -1}, {9, 20, 0, -1}, {9, 1, 0, -1}},
                  {.bucket_bytes = 10}),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2), ElementsAre(3)));
}

TEST(FixedTest, TheThresholdAndMixesCloseItToo) {
  EXPECT_THAT(Cut("buckets", {{0, 4, 0, -1}, {0, 4, 0, -1}, {0, 4, 0, -1}, {0, 1, 1, -1}},
                  {.threshold = 8, .bucket_bytes = 100}),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2), ElementsAre(3)));
  EXPECT_THAT(Cut("buckets", {{0, 4, 0, -1}, {0, 4, 0, -1}}, {.threshold = 0}),
              ElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST(FixedTest, NoTensorsNoBuckets) { EXPECT_TRUE(Cut("buckets", {}, {}).empty()); }

}  // namespace
}  // namespace horovodx::schedule

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "horovodx/schedule/cut.h"

namespace horovodx::schedule {
namespace {

using testing::ElementsAre;

TEST(WfbpTest, EveryTensorLeavesAlone) {
  EXPECT_THAT(Cut("wfbp", {{0, 1, 0, -1}, {0, 1, 0, -1}}, {}),
              ElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST(WfbpTest, AGroupLeavesTogetherAsFarAsItMixes) {
  EXPECT_THAT(Cut("wfbp", {{0, 1, 0, 5}, {0, 1, 0, 5}, {0, 1, 1, 5}, {0, 1, 1, 6}}, {}),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2), ElementsAre(3)));
}

TEST(WfbpTest, NoTensorsNoBuckets) { EXPECT_TRUE(Cut("wfbp", {}, {}).empty()); }

}  // namespace
}  // namespace horovodx::schedule

#include "horovodx/schedule/play.h"

#include <gtest/gtest.h>

namespace horovodx::schedule {
namespace {

TEST(PlayTest, ABucketStartsWhenItsLastTensorIsThereAndTheLineIsFree) {
  const std::vector<Tensor> tensors = {{1, 2, 0, -1}, {3, 4, 0, -1}, {20, 1, 0, -1}};
  const auto played = Play(tensors, {{0}, {1}, {2}}, {10.0, 1.0});
  ASSERT_EQ(played.size(), 3u);
  EXPECT_EQ(played[0].start, 1);
  EXPECT_EQ(played[0].end, 13);
  EXPECT_EQ(played[1].start, 13);  // the line was busy
  EXPECT_EQ(played[1].ready, 3);
  EXPECT_EQ(played[2].start, 27);
  EXPECT_EQ(EndOf(played), 38);
}

TEST(PlayTest, SaysWhichTensorABucketWaitedFor) {
  const auto played = Play({{5, 2, 0, -1}, {9, 4, 0, -1}, {7, 1, 0, -1}}, {{0, 1, 2}}, {1.0, 1.0});
  EXPECT_EQ(played[0].last, 1);
  EXPECT_EQ(played[0].bytes, 7u);
  EXPECT_EQ(played[0].start, 9);
}

TEST(PlayTest, NothingEndsAtOnce) { EXPECT_EQ(EndOf(Play({}, {}, {})), 0.0); }

}  // namespace
}  // namespace horovodx::schedule

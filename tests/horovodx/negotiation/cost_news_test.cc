#include "horovodx/negotiation/cost_news.h"

#include <gtest/gtest.h>

namespace horovodx::negotiation {
namespace {

TEST(CostNewsTest, TheFirstIsNewsAndThenWhatHasMovedByMoreThanAQuarter) {
  CostNews news;
  EXPECT_TRUE(news.Heard({1.0, 10.0}));
  EXPECT_FALSE(news.Heard({1.0, 10.0}));
  EXPECT_FALSE(news.Heard({1.2, 10.0}));
  EXPECT_FALSE(news.Heard({1.0, 8.5}));
  EXPECT_TRUE(news.Heard({1.3, 10.0}));
  EXPECT_FALSE(news.Heard({1.3, 9.0}));
  EXPECT_TRUE(news.Heard({1.3, 7.0}));
}

TEST(CostNewsTest, SmallStepsAddUp) {
  CostNews news;
  EXPECT_TRUE(news.Heard({1.0}));
  EXPECT_FALSE(news.Heard({1.1}));
  EXPECT_FALSE(news.Heard({1.2}));
  EXPECT_TRUE(news.Heard({1.3}));
}

}  // namespace
}  // namespace horovodx::negotiation

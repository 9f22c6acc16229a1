#include "horovodx/negotiation/shape.h"

#include <gtest/gtest.h>

#include <limits>

namespace horovodx::negotiation {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(ShapeTest, ElementsSaturateInsteadOfOverflowing) {
  EXPECT_EQ(ElementsOf({2, 3}), 6u);
  EXPECT_EQ(ElementsOf({}), 1u);
  EXPECT_EQ(ElementsOf({5, 3}, 1), 3u);
  EXPECT_EQ(ElementsOf({kMost, kMost}), kMostElements);
  EXPECT_EQ(ElementsOf({kMost, 0}), 0u);
  EXPECT_EQ(ElementsOf({-3}), 0u);
}

TEST(ShapeTest, KnowsWhatIsNoShape) {
  EXPECT_TRUE(IsShape({}));
  EXPECT_TRUE(IsShape({0, 7}));
  EXPECT_FALSE(IsShape({-1}));
  EXPECT_FALSE(IsShape({kMost}));
}

TEST(ShapeTest, AGatherMovesThePartsOfAll) {
  Bucket bucket;
  bucket.type = ElementType::kFloat64;
  bucket.entries = {{"a", 4, {2, 2}, {2, 3}}, {"b", 5, {5}, {}}};
  EXPECT_EQ(BytesMoved(bucket), 8u * (10 + 5));
  bucket.entries = {{"a", 4, {2, kMost}, {kMost, kMost}}};
  EXPECT_EQ(BytesMoved(bucket), kMostElements);
}

TEST(ShapeTest, ReadsAsAList) { EXPECT_EQ(ToString({2, 3}), "[2, 3]"); }

}  // namespace
}  // namespace horovodx::negotiation

#include "tools/bench/models.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace horovodx::bench {
namespace {

TEST(ModelsTest, ResNet50HasItsPublishedSize) {
  const Model model = ResNet50();
  EXPECT_EQ(model.elements.size(), 161u);
  EXPECT_EQ(model.total(), 25'557'032u);
}

TEST(ModelsTest, BertBaseHasItsPublishedSize) {
  const Model model = BertBase();
  EXPECT_EQ(model.elements.size(), 199u);
  EXPECT_EQ(model.total(), 109'482'240u);
}

TEST(ModelsTest, SmallTensorsAreOneToSixteenKiBOfFloats) {
  const Model model = ManySmall(1000);
  EXPECT_EQ(model.elements.size(), 1000u);
  EXPECT_EQ(*std::min_element(model.elements.begin(), model.elements.end()) * 4, 1024u);
  EXPECT_EQ(*std::max_element(model.elements.begin(), model.elements.end()) * 4, 16384u);
}

}  // namespace
}  // namespace horovodx::bench

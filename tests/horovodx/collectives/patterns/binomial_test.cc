#include "horovodx/collectives/patterns/binomial.h"

#include <gtest/gtest.h>

#include <vector>

namespace horovodx::collectives {
namespace {

TEST(BinomialTreeTest, EverybodyIsTheChildOfItsParentOnly) {
  for (int n = 1; n <= 40; ++n) {
    std::vector<int> heard_from(static_cast<std::size_t>(n), -1);
    for (int place = 0; place < n; ++place) {
      for (const auto& child : BinomialTree(place, n).children()) {
        int& sender = heard_from[static_cast<std::size_t>(child.place)];
        EXPECT_EQ(sender, -1) << "place " << child.place << " of " << n << " hears twice";
        sender = place;
      }
    }
    EXPECT_EQ(heard_from[0], -1);
    for (int place = 1; place < n; ++place) {
      EXPECT_EQ(heard_from[static_cast<std::size_t>(place)], BinomialTree(place, n).parent());
    }
  }
}

TEST(BinomialTreeTest, SubtreesOfTheChildrenAndOneselfMakeUpTheWhole) {
  for (int n = 1; n <= 40; ++n) {
    for (int place = 0; place < n; ++place) {
      const BinomialTree tree(place, n);
      int end = tree.end();
      for (const auto& child : tree.children()) {  // from the far end inwards
        EXPECT_EQ(child.end, end);
        EXPECT_EQ(child.end, BinomialTree(child.place, n).end());
        end = child.place;
      }
      EXPECT_EQ(end, place + 1);
    }
    EXPECT_EQ(BinomialTree(0, n).end(), n);
  }
}

}  // namespace
}  // namespace horovodx::collectives

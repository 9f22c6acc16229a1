#include "horovodx/collectives/patterns/tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace horovodx::collectives {
namespace {

using testing::ElementsAre;

TEST(TreePatternTest, EveryRankButTheRootIsAChildOfItsParentAlone) {
  for (int size = 1; size <= 20; ++size) {
    std::vector<int> parents(static_cast<std::size_t>(size), -1);
    int most = 0;
    for (int rank = 0; rank < size; ++rank) {
      const auto children = TreePattern(rank, size).children();
      if (rank > 0) most = std::max(most, static_cast<int>(children.size()));
      for (int child : children) {
        EXPECT_EQ(parents[static_cast<std::size_t>(child)], -1);
        parents[static_cast<std::size_t>(child)] = rank;
        EXPECT_EQ(TreePattern(child, size).parent(), rank);
      }
    }
    EXPECT_EQ(std::count(parents.begin(), parents.end(), -1), 1);
    EXPECT_EQ(parents[0], -1);
    EXPECT_EQ(static_cast<int>(TreePattern(0, size).children().size()), TreePattern::Depth(size));
    EXPECT_EQ(TreePattern::MostChildrenBelowRoot(size), most);
  }
}

TEST(TreePatternTest, EightRanks) {
  EXPECT_THAT(TreePattern(0, 8).children(), ElementsAre(1, 2, 4));
  EXPECT_THAT(TreePattern(4, 8).children(), ElementsAre(5, 6));
  EXPECT_THAT(TreePattern(6, 7).children(), ElementsAre());
  static_assert(TreePattern::Depth(1) == 0 && TreePattern::Depth(8) == 3 &&
                TreePattern::Depth(9) == 4);
}

}  // namespace
}  // namespace horovodx::collectives

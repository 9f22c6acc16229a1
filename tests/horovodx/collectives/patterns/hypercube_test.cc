#include "horovodx/collectives/patterns/hypercube.h"

#include <gtest/gtest.h>

#include <set>

namespace horovodx::collectives {
namespace {

TEST(HypercubePatternTest, NeighboursAreMutualAndGuestsHaveOneHost) {
  for (int size = 1; size <= 20; ++size) {
    std::set<int> corners;
    for (int rank = 0; rank < size; ++rank) {
      const HypercubePattern cube(rank, size);
      if (cube.is_guest()) {
        const HypercubePattern host(cube.host(), size);
        EXPECT_TRUE(host.has_guest());
        EXPECT_EQ(host.guest(), rank);
        continue;
      }
      corners.insert(cube.corner());
      for (int d = 0; d < cube.dimensions(); ++d) {
        const HypercubePattern neighbour(cube.Neighbour(d), size);
        EXPECT_FALSE(neighbour.is_guest());
        EXPECT_EQ(neighbour.corner(), cube.corner() ^ (1 << d));
        EXPECT_EQ(neighbour.Neighbour(d), rank);
      }
    }
    EXPECT_EQ(static_cast<int>(corners.size()), HypercubePattern::Corners(size));
    EXPECT_EQ(*corners.rbegin(), HypercubePattern::Corners(size) - 1);
  }
}

TEST(HalvingsTest, NeighboursSplitTheSameRange) {
  for (std::size_t count : {0, 1, 5, 1000}) {
    for (int corner = 0; corner < 8; ++corner) {
      const auto mine = Halvings(count, corner, 3);
      for (int d = 0; d < 3; ++d) {
        const auto theirs = Halvings(count, corner ^ (1 << d), 3);
        EXPECT_EQ(mine[d].keep, theirs[d].give);
        EXPECT_EQ(mine[d].give, theirs[d].keep);
      }
    }
  }
}

TEST(HalvingsTest, FirstHalfIsTheShorterOneAndBelongsToTheClearBit) {
  const auto lower = Halvings(7, 0, 2);
  EXPECT_EQ(lower[0].keep, (Chunk{0, 3}));
  EXPECT_EQ(lower[0].give, (Chunk{3, 4}));
  EXPECT_EQ(lower[1].keep, (Chunk{0, 1}));
  const auto upper = Halvings(7, 1, 2);
  EXPECT_EQ(upper[0].keep, (Chunk{3, 4}));
}

}  // namespace
}  // namespace horovodx::collectives

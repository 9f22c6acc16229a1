#include "horovodx/collectives/patterns/blocks.h"

#include <gtest/gtest.h>

#include <vector>

namespace horovodx::collectives {
namespace {

TEST(BlocksTest, RowsAreDealtOutWithTheRestToTheFirstRanks) {
  struct Case {
    std::size_t rows;
    int ranks;
    std::vector<std::size_t> sizes;
  };
  for (const Case& c : {Case{5, 3, {2, 2, 1}}, Case{6, 3, {2, 2, 2}}, Case{2, 4, {1, 1, 0, 0}},
                        Case{0, 2, {0, 0}}, Case{7, 1, {7}}}) {
    const Blocks blocks = Blocks::Rows(c.rows, 10, c.ranks);
    std::size_t offset = 0;
    for (int rank = 0; rank < c.ranks; ++rank) {
      const Block expected{offset, c.sizes[static_cast<std::size_t>(rank)] * 10};
      EXPECT_EQ(blocks[rank], expected);
      offset = expected.end();
    }
    EXPECT_EQ(blocks.total(), c.rows * 10);
    EXPECT_EQ(blocks.largest(), c.sizes.front() * 10);
  }
}

TEST(BlocksTest, FitOnlyWithinTheBufferAndForAllRanks) {
  const Blocks blocks({{0, 3}, {7, 3}});
  EXPECT_TRUE(blocks.FitIn(10, 2));
  EXPECT_FALSE(blocks.FitIn(9, 2));
  EXPECT_FALSE(blocks.FitIn(10, 3));
  const std::size_t huge = ~std::size_t{0};
  EXPECT_FALSE(Blocks({{5, huge}}).FitIn(10, 1));  // the sum would wrap round
}

TEST(BlocksTest, PartsCoverABlockOnceAndAreEmptyBehindIt) {
  const Block block{100, 25};
  EXPECT_EQ(PartsOf(25, 10), 3u);
  EXPECT_EQ(PartsOf(20, 10), 2u);
  EXPECT_EQ(PartsOf(0, 10), 1u);
  EXPECT_EQ(PartOf(block, 10, 0), (Block{100, 10}));
  EXPECT_EQ(PartOf(block, 10, 2), (Block{120, 5}));
  EXPECT_EQ(PartOf(block, 10, 3), (Block{125, 0}));
  EXPECT_EQ(PartOf(block, 10, 9), (Block{125, 0}));
}

TEST(BlocksTest, WrapGoesRoundBothWays) {
  EXPECT_EQ(Wrap(-5, 5), 0);
  EXPECT_EQ(Wrap(-1, 5), 4);
  EXPECT_EQ(Wrap(3, 5), 3);
  EXPECT_EQ(Wrap(9, 5), 4);
}

}  // namespace
}  // namespace horovodx::collectives

#include "horovodx/collectives/patterns/chunks.h"

#include <gtest/gtest.h>

namespace horovodx::collectives {
namespace {

TEST(ChunkPlanTest, CoversEverythingInOrderAndEvenly) {
  for (std::size_t count : {0, 1, 3, 4, 7, 1000}) {
    for (int parts : {1, 2, 3, 7, 16}) {
      const ChunkPlan chunk(count, parts);
      std::size_t at = 0;
      for (int i = 0; i < parts; ++i) {
        EXPECT_EQ(chunk[i].begin, at);
        EXPECT_GE(chunk[i].count, count / static_cast<std::size_t>(parts));
        EXPECT_LE(chunk[i].count, chunk.longest());
        at = chunk[i].end();
      }
      EXPECT_EQ(at, count);
      EXPECT_LE(chunk.longest(), count / static_cast<std::size_t>(parts) + 1);
    }
  }
}

TEST(ChunkPlanTest, SizesBeyond32BitsAreExact) {
  const std::size_t count = (std::size_t{1} << 40) + 1;
  const ChunkPlan chunk(count, 3);
  EXPECT_EQ(chunk[2].end(), count);
}

TEST(ChunkPlanTest, MergedKeepsSomeOfTheCuts) {
  const ChunkPlan fine(10, 5);  // 2 2 2 2 2
  const ChunkPlan two = ChunkPlan::Merged(fine, 2);
  EXPECT_EQ(two[0], (Chunk{0, 6}));
  EXPECT_EQ(two[1], (Chunk{6, 4}));
  const ChunkPlan one = ChunkPlan::Merged(fine, 1);
  EXPECT_EQ(one[0], (Chunk{0, 10}));
}

TEST(ChunkPlanTest, MergingIntoMorePartsThanThereAreLeavesTheLastEmpty) {
  const ChunkPlan three = ChunkPlan::Merged(ChunkPlan(10, 2), 3);
  EXPECT_EQ(three[1], (Chunk{5, 5}));
  EXPECT_EQ(three[2], (Chunk{10, 0}));
}

TEST(WindowPlanTest, CutsIntoWindowsAndKeepsOneForNothing) {
  constexpr WindowPlan windows(10, 4);
  static_assert(windows.windows() == 3);
  EXPECT_EQ(windows[0], (Chunk{0, 4}));
  EXPECT_EQ(windows[2], (Chunk{8, 2}));
  EXPECT_EQ(WindowPlan(8, 4).windows(), 2u);
  EXPECT_EQ(WindowPlan(0, 4).windows(), 1u);
  EXPECT_EQ(WindowPlan(0, 4)[0], (Chunk{0, 0}));
}

}  // namespace
}  // namespace horovodx::collectives

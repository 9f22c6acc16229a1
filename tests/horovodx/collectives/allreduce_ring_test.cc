#include "horovodx/collectives/allreduce_ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "horovodx/collectives/patterns/ring.h"
#include "tests/horovodx/collectives/allreduce_suite.h"
#include "tests/horovodx/collectives/large_support.h"
#include "tests/support/in_process_world.h"

namespace horovodx::collectives {
namespace {

using testing::ElementsAre;
using testing_support::InProcessWorld;
using topology::HostMap;

TEST(AllreduceRingTest, HoldsToTheSuite) {
  testing_suite::RunSuite(AllreduceRing, testing_suite::OneHostWorlds());
}

TEST(AllreduceRingTest, KeepsInputsWhenARankStaysAway) {
  for (int ranks : {2, 4}) {
    testing_suite::ExpectInputsKeptWhenARankStaysAway(AllreduceRing, HostMap::OneHost(ranks));
  }
}

TEST(AllreduceRingTest, SendsWhatTheFormulaSays) {
  using testing_suite::kEvenCount;
  for (int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16}) {
    testing_suite::ExpectCost(AllreduceRing, HostMap::OneHost(ranks), kEvenCount,
                              CostOfRing(ranks, kEvenCount * 4));
  }
  // Several windows, the last one short.
  testing_suite::ExpectCost(AllreduceRing, HostMap::OneHost(3), 600'000,
                            CostOfRing(3, 600'000 * 4));
  EXPECT_EQ(CostOfRing(4, 0).messages, 6u);
  EXPECT_EQ(CostOfRing(4, 4000).steps, 6u);
  EXPECT_EQ(CostOfRing(4, 4000).bytes, 6000.0);
  EXPECT_EQ(CostOfRing(2, 1'200'000).steps, 3u * 2u);
}

// A worked example: the largest of each column, on 4 ranks, one element a chunk.
//
//            chunk 0  1  2  3
//   rank 0         3  8  1  5
//   rank 1         4  2  9  6
//   rank 2         7  1  2  8
//   rank 3         1  5  3  2
//
// In step s rank r sends chunk r-1-s to its right and puts the larger of what comes from its left
// and of its own into scratch. Chunk c so sets out from rank c+1 and is finished at rank c.
using Grid = std::vector<std::vector<int>>;  // [rank][chunk]
const Grid kInputs = {{3, 8, 1, 5}, {4, 2, 9, 6}, {7, 1, 2, 8}, {1, 5, 3, 2}};

// What is in each rank's scratch after step s, computed by the pattern alone.
std::vector<std::vector<int>> ScratchAfterEachStep() {
  std::vector<std::vector<int>> after;
  std::vector<int> scratch(4);
  for (int r = 0; r < 4; ++r) scratch[r] = kInputs[r][RingPattern(r, 4).ReduceSend(0)];
  for (int s = 0; s < 3; ++s) {
    std::vector<int> next(4);
    for (int r = 0; r < 4; ++r) {
      const RingPattern ring(r, 4);
      EXPECT_EQ(ring.ReduceRecv(s), RingPattern(ring.left(), 4).ReduceSend(s));
      next[r] = std::max(scratch[ring.left()], kInputs[r][ring.ReduceRecv(s)]);
    }
    after.push_back(scratch = next);
  }
  return after;
}

TEST(AllreduceRingTest, WorkedExampleOfAMaximumOnFourRanks) {
  const auto scratch = ScratchAfterEachStep();
  //                                      rank 0           rank 1           rank 2           rank 3
  EXPECT_THAT(scratch[0],
              ElementsAre(3 /* chunk 2 */, 6 /* chunk 3 */, 7 /* chunk 0 */, 5 /* 1 */));
  EXPECT_THAT(scratch[1],
              ElementsAre(8 /* chunk 1 */, 9 /* chunk 2 */, 8 /* chunk 3 */, 7 /* 0 */));
  EXPECT_THAT(scratch[2],
              ElementsAre(7 /* chunk 0 */, 8 /* chunk 1 */, 9 /* chunk 2 */, 8 /* 3 */));

  InProcessWorld world(4);
  world.Run([&](Team& team) {
    const std::vector<int> input = kInputs[static_cast<std::size_t>(team.rank())];
    std::vector<int> x = input;
    RingScratch memory;
    auto sum = ReducePass(team, x, ChunkPlan(4, 4), ReduceOp::kMax, memory);
    ASSERT_TRUE(sum.ok());
    // After the reducing pass: the finished chunk in scratch is the example's, the input is as it
    // was.
    EXPECT_EQ(*static_cast<int*>(sum->pieces().front().data), scratch[2][team.rank()]);
    EXPECT_EQ(x, input);
    ASSERT_TRUE(AllreduceRing(team, x, ReduceOp::kMax).ok());
    EXPECT_THAT(x, ElementsAre(7, 8, 9, 8));
  });
}

TEST(AllreduceRingTest, ReducesMoreThanTwoGibibytes) {
  if (!testing_support::kRoomForLarge) GTEST_SKIP() << "only where it is fast";
  constexpr std::size_t kCount = testing_support::LargeCounts::kCount;
  InProcessWorld world(2);
  world.Run([&](Team& team) {
    const testing_support::LargeCounts x(team.rank() + 1);
    ASSERT_TRUE(x.ok());
    ASSERT_TRUE(AllreduceRing(team, {ElementType::kUint8, x.data(), kCount}, ReduceOp::kSum).ok());
    EXPECT_TRUE(x.Hold(3));
    const std::size_t shorter = kCount / 2;  // of the two halves of the last window
    EXPECT_GE(team.traffic().bytes, 2 * shorter);
    EXPECT_LE(team.traffic().bytes, 2 * (shorter + 1));
  });
}

}  // namespace
}  // namespace horovodx::collectives

#include "horovodx/collectives/reducescatter_ring.h"

#include "tests/horovodx/collectives/reducescatter_support.h"

namespace horovodx::collectives {
namespace {

using namespace testing_support;  // NOLINT: the support of this very test

constexpr std::size_t kNarrow = 1024;  // bytes; many windows

Status Ring(Team& team, const MutableBuffer& in, const Blocks& blocks, const MutableBuffer& out,
            const Reduction& reduction) {
  return ReducescatterRing(team, in, blocks, out, reduction);
}
Traffic CostOfRing(const Blocks& blocks, ElementType type, int rank) {
  return CostOfReducescatterRing(blocks, type, rank);
}
Status InWindows(Team& team, const MutableBuffer& in, const Blocks& blocks,
                 const MutableBuffer& out, const Reduction& reduction) {
  return ReducescatterRing(team, in, blocks, out, reduction, kNarrow);
}
Traffic CostInWindows(const Blocks& blocks, ElementType type, int rank) {
  return CostOfReducescatterRing(blocks, type, rank, kNarrow);
}

TEST(ReducescatterRingTest, ReducesBlocksOfAnySizeForAnyTeam) {
  ExpectReducesEverywhere(Ring, CostOfRing);
}

TEST(ReducescatterRingTest, ReducesInManyWindows) {
  ExpectReducesEverywhere(InWindows, CostInWindows);
}

TEST(ReducescatterRingTest, ReducesEveryType) { ExpectReducesEveryType(InWindows, CostInWindows); }

TEST(ReducescatterRingTest, ScalesEveryContributionAndTheResult) {
  ExpectScalesEveryContributionAndTheResult(Ring);
}

// Prescaled contributions pass through scratch: several windows, several ranks, arriving in parts.
TEST(ReducescatterRingTest, ScalesLongBlocks) {
  InProcessWorld(4, NarrowLinks()).Run([](Team& team) {
    const Blocks blocks = Blocks::Rows(400'003, 1, 4);
    std::vector<float> in(blocks.total(), static_cast<float>(team.rank() + 1));
    std::vector<float> out(blocks[team.rank()].size);
    const Reduction scaled{.op = ReduceOp::kSum, .prescale = 0.5, .postscale = 4};
    ASSERT_TRUE(ReducescatterRing(team, in, blocks, out, scaled).ok());
    EXPECT_THAT(out, testing::Each(20.0f));
  });
}

TEST(ReducescatterRingTest, SumsInRankOrderBehindTheOwner) {
  ExpectSumsInRankOrderBehindTheOwner(Ring);
  ExpectSumsInRankOrderBehindTheOwner(InWindows);
}

TEST(ReducescatterRingTest, CostIsTheFormula) {
  const Blocks blocks = Blocks::Rows(10, 256, 4);  // 3, 3, 2 and 2 rows of one window each
  const Traffic cost = CostOfReducescatterRing(blocks, ElementType::kFloat32, 3, kNarrow);
  EXPECT_EQ(cost.messages, 3u * 3);
  EXPECT_EQ(cost.bytes, 8u * kNarrow);
}

TEST(ReducescatterRingTest, GivesUpWhenInterrupted) { ExpectReducescatterInterruptible(InWindows); }

TEST(ReducescatterRingTest, RefusesWhatDoesNotFit) { ExpectRefusesWhatDoesNotFit(Ring); }

}  // namespace
}  // namespace horovodx::collectives

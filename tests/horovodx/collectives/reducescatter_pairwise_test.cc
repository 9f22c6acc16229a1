#include "horovodx/collectives/reducescatter_pairwise.h"

#include "tests/horovodx/collectives/reducescatter_support.h"

namespace horovodx::collectives {
namespace {

using namespace testing_support;  // NOLINT: the support of this very test

TEST(ReducescatterPairwiseTest, ReducesBlocksOfAnySizeForAnyTeam) {
  ExpectReducesEverywhere(ReducescatterPairwise, CostOfReducescatterPairwise);
}

TEST(ReducescatterPairwiseTest, ReducesEveryType) {
  ExpectReducesEveryType(ReducescatterPairwise, CostOfReducescatterPairwise);
}

TEST(ReducescatterPairwiseTest, ReducesInManyWindows) {
  const std::vector<std::size_t> sizes{100'003, 0, 70'001};
  const Blocks blocks = Blocks::Packed(sizes);
  EXPECT_EQ(CostOfReducescatterPairwise(blocks, ElementType::kFloat64, 0).messages, 2u * 4);
  InProcessWorld(3).Run([&](Team& team) {
    ExpectReduces(team, ElementType::kFloat64, ReduceOp::kSum, blocks, ReducescatterPairwise,
                  CostOfReducescatterPairwise);
  });
}

TEST(ReducescatterPairwiseTest, ScalesEveryContributionAndTheResult) {
  ExpectScalesEveryContributionAndTheResult(ReducescatterPairwise);
}

TEST(ReducescatterPairwiseTest, SumsInRankOrderBehindTheOwner) {
  ExpectSumsInRankOrderBehindTheOwner(ReducescatterPairwise);
}

TEST(ReducescatterPairwiseTest, GivesUpWhenInterrupted) {
  ExpectReducescatterInterruptible(ReducescatterPairwise);
}

TEST(ReducescatterPairwiseTest, RefusesWhatDoesNotFit) {
  ExpectRefusesWhatDoesNotFit(ReducescatterPairwise);
}

}  // namespace
}  // namespace horovodx::collectives

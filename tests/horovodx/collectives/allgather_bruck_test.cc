#include "horovodx/collectives/allgather_bruck.h"

#include "tests/horovodx/collectives/allgather_support.h"

namespace horovodx::collectives {
namespace {

using namespace testing_support;  // NOLINT: the support of this very test

Status Bruck(Team& team, const Blocks& blocks, std::span<const MutableBytes> out) {
  return AllgatherBruck(team, blocks, out);
}

TEST(AllgatherBruckTest, GathersBlocksOfAnySizeForAnyTeam) {
  ExpectGathersEverywhere(Bruck, CostOfAllgatherBruck);
}

TEST(AllgatherBruckTest, CostOfEqualBlocksIsTheFormula) {
  for (int ranks : {1, 2, 3, 8, 17}) {
    const Traffic cost = CostOfAllgatherBruck(Blocks::Rows(ranks, 100, ranks), 0);
    EXPECT_EQ(cost.bytes, 100u * (ranks - 1));
  }
  EXPECT_EQ(CostOfAllgatherBruck(Blocks::Rows(8, 100, 8), 0).messages, 3u);
  EXPECT_EQ(CostOfAllgatherBruck(Blocks::Rows(17, 100, 17), 0).messages, 5u);
}

TEST(AllgatherBruckTest, GivesUpWhenInterrupted) { ExpectAllgatherInterruptible(Bruck); }

}  // namespace
}  // namespace horovodx::collectives

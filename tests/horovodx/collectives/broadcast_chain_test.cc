#include "horovodx/collectives/broadcast_chain.h"

#include "tests/horovodx/collectives/broadcast_support.h"

namespace horovodx::collectives {
namespace {

using namespace testing_support;  // NOLINT: the support of this very test

constexpr std::size_t kSegment = 1000;

Status InSegments(Team& team, int root, std::span<const MutableBytes> buffer) {
  return BroadcastChain(team, root, buffer, kSegment);
}

TEST(BroadcastChainTest, BroadcastsAnySizeFromAnyRootInAnyTeam) {
  ExpectBroadcastsEverywhere(InSegments, [](std::size_t bytes, int ranks, int root, int rank) {
    return CostOfBroadcastChain(bytes, ranks, root, rank, kSegment);
  });
}

TEST(BroadcastChainTest, EverybodyButTheLastSendsAllBytesOnce) {
  EXPECT_EQ(CostOfBroadcastChain(2500, 4, 1, 1, kSegment).messages, 3u);
  EXPECT_EQ(CostOfBroadcastChain(2500, 4, 1, 3, kSegment).bytes, 2500u);
  EXPECT_EQ(CostOfBroadcastChain(2500, 4, 1, 0, kSegment).bytes, 0u);
  EXPECT_EQ(CostOfBroadcastChain(0, 4, 1, 1, kSegment).messages, 1u);
}

TEST(BroadcastChainTest, GivesUpWhenInterrupted) { ExpectBroadcastInterruptible(InSegments); }

}  // namespace
}  // namespace horovodx::collectives

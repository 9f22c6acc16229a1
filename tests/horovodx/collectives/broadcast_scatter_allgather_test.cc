#include "horovodx/collectives/broadcast_scatter_allgather.h"

#include "tests/horovodx/collectives/broadcast_support.h"

namespace horovodx::collectives {
namespace {

using namespace testing_support;  // NOLINT: the support of this very test

TEST(BroadcastScatterAllgatherTest, BroadcastsAnySizeFromAnyRootInAnyTeam) {
  ExpectBroadcastsEverywhere(BroadcastScatterAllgather, CostOfBroadcastScatterAllgather);
}

TEST(BroadcastScatterAllgatherTest, RootSendsLessThanTheBufferTwiceAndNobodyMore) {
  for (int ranks : {2, 3, 8, 17}) {
    const std::size_t bytes = 1000 * static_cast<std::size_t>(ranks);
    const Traffic root = CostOfBroadcastScatterAllgather(bytes, ranks, 1, 1);
    EXPECT_EQ(root.bytes, 2000u * (ranks - 1));
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_LE(CostOfBroadcastScatterAllgather(bytes, ranks, 1, rank).bytes, root.bytes);
    }
  }
}

TEST(BroadcastScatterAllgatherTest, GivesUpWhenInterrupted) {
  ExpectBroadcastInterruptible(BroadcastScatterAllgather);
}

}  // namespace
}  // namespace horovodx::collectives

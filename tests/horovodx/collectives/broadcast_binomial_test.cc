#include "horovodx/collectives/broadcast_binomial.h"

#include "tests/horovodx/collectives/broadcast_support.h"
#include "tests/horovodx/collectives/large_support.h"

namespace horovodx::collectives {
namespace {

using namespace testing_support;  // NOLINT: the support of this very test

TEST(BroadcastBinomialTest, BroadcastsAnySizeFromAnyRootInAnyTeam) {
  ExpectBroadcastsEverywhere(BroadcastBinomial, CostOfBroadcastBinomial);
}

TEST(BroadcastBinomialTest, CostIsLogarithmicAtTheRootAndOneMessageARankInAll) {
  for (int ranks : {1, 2, 3, 8, 9, 17}) {
    std::uint64_t messages = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      messages += CostOfBroadcastBinomial(10, ranks, 0, rank).messages;
    }
    EXPECT_EQ(messages, static_cast<std::uint64_t>(ranks - 1));
  }
  EXPECT_EQ(CostOfBroadcastBinomial(10, 8, 2, 2).messages, 3u);
  EXPECT_EQ(CostOfBroadcastBinomial(10, 9, 2, 2).messages, 4u);
}

TEST(BroadcastBinomialTest, GivesUpWhenInterrupted) {
  ExpectBroadcastInterruptible(BroadcastBinomial);
}

TEST(BroadcastBinomialTest, BroadcastsMoreThan2GiB) {
  if (!kRoomForLarge) GTEST_SKIP() << "only where it is fast";
  InProcessWorld(2, WideLinks()).Run([](Team& team) {
    LargeBuffer expected;
    expected.Fill();
    LargeBuffer buffer;
    if (team.rank() == 1) buffer.Fill();
    ASSERT_TRUE(BroadcastBinomial(team, 1, buffer.pieces()).ok());
    EXPECT_TRUE(buffer == expected);
  });
}

}  // namespace
}  // namespace horovodx::collectives

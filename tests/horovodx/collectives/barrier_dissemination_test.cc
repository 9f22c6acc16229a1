#include "horovodx/collectives/barrier_dissemination.h"

#include <atomic>

#include "tests/horovodx/collectives/gather_support.h"

namespace horovodx::collectives {
namespace {

using namespace testing_support;  // NOLINT: the support of this very test

TEST(BarrierDisseminationTest, NobodyIsThroughBeforeEverybodyHasCome) {
  for (const auto& map : EveryHostMap()) {
    std::atomic<int> arrivals{0};
    InProcessWorld(map).Run([&](Team& team) {
      for (int round = 1; round <= 20; ++round) {
        ++arrivals;
        const auto sent = SentDuring(team, [&] { ASSERT_TRUE(BarrierDissemination(team).ok()); });
        EXPECT_GE(arrivals.load(), round * team.size());
        ExpectSent(sent, CostOfBarrierDissemination(team.size()));
      }
    });
  }
}

TEST(BarrierDisseminationTest, CostIsLogarithmic) {
  EXPECT_EQ(CostOfBarrierDissemination(1).messages, 0u);
  EXPECT_EQ(CostOfBarrierDissemination(8).messages, 3u);
  EXPECT_EQ(CostOfBarrierDissemination(9).messages, 4u);
}

TEST(BarrierDisseminationTest, GivesUpWhenInterrupted) {
  for (int absent = 0; absent < 5; ++absent) ExpectInterruptible(5, absent, BarrierDissemination);
}

}  // namespace
}  // namespace horovodx::collectives

#include "horovodx/collectives/alltoall_bruck.h"

#include "tests/horovodx/collectives/alltoall_support.h"

namespace horovodx::collectives {
namespace {

using namespace testing_support;  // NOLINT: the support of this very test

Status Bruck(Team& team, ConstBytes in, const Blocks&, MutableBytes out, const Blocks&) {
  return AlltoallBruck(team, in, out);
}

TEST(AlltoallBruckTest, ExchangesEqualBlocksInAnyTeam) {
  OnEveryTeam([](Team& team) {
    for (std::size_t each : {0, 1, 8, 3001}) {
      const auto sent = SentDuring(team, [&] {
        const Status status = CheckedAlltoall(
            team, [&](int, int) { return each; }, Bruck);
        ASSERT_TRUE(status.ok()) << status.ToString();
      });
      const auto n = static_cast<std::size_t>(team.size());
      ExpectSent(sent, CostOfAlltoallBruck(n * each, team.size()));
    }
  });
}

TEST(AlltoallBruckTest, CostOfAPowerOfTwoIsTheFormula) {
  const Traffic cost = CostOfAlltoallBruck(16 * 10, 16);
  EXPECT_EQ(cost.messages, 4u);
  EXPECT_EQ(cost.bytes, 16u / 2 * 4 * 10);
}

TEST(AlltoallBruckTest, GivesUpWhenInterrupted) {
  for (int absent : {0, 2, 4}) {
    ExpectInterruptible(5, absent, [](Team& team) {
      return CheckedAlltoall(
          team, [](int, int) { return 4000; }, Bruck);
    });
  }
}

TEST(AlltoallBruckTest, RefusesWhatIsNotEqualBlocks) {
  InProcessWorld(2).Run([](Team& team) {
    std::vector<std::byte> five(5);
    EXPECT_EQ(AlltoallBruck(team, five, five).code(), StatusCode::kInvalidArgument);
  });
}

}  // namespace
}  // namespace horovodx::collectives

#include "horovodx/collectives/alltoall_pairwise.h"

#include "tests/horovodx/collectives/alltoall_support.h"

namespace horovodx::collectives {
namespace {

using namespace testing_support;  // NOLINT: the support of this very test

TEST(AlltoallPairwiseTest, ExchangesBlocksOfAnySizeInAnyTeam) {
  const std::vector<PairSize> sizes{
      [](int, int) { return 0; },
      [](int, int) { return 1; },
      [](int from, int to) { return 100 * from + to; },
      [](int from, int to) { return (from + to) % 3 == 0 ? 0 : 9000; },
      [](int from, int) { return from == 0 ? 20'000 : 0; },
      [](int, int to) { return to == 0 ? 20'000 : 0; },
  };
  OnEveryTeam([&](Team& team) {
    for (const auto& size : sizes) {
      const auto sent = SentDuring(team, [&] {
        const Status status = CheckedAlltoall(team, size, AlltoallPairwise);
        ASSERT_TRUE(status.ok()) << status.ToString();
      });
      const Blocks send = SendBlocks(team.rank(), team.size(), size);
      ExpectSent(sent, CostOfAlltoallPairwise(send, team.rank()));
    }
  });
}

TEST(AlltoallPairwiseTest, LeavesBytesThatAreForNobody) {
  InProcessWorld(2).Run([](Team& team) {
    const std::vector<std::byte> in(6, std::byte{5});
    std::vector<std::byte> out(8, std::byte{1});
    const Blocks send({{0, 1}, {2, 2}});
    const auto size = static_cast<std::size_t>(team.rank() + 1);
    const Blocks receive({{1, size}, {5, size}});
    ASSERT_TRUE(AlltoallPairwise(team, in, send, out, receive).ok());
    EXPECT_EQ(std::count(out.begin(), out.end(), std::byte{5}), 2 * (team.rank() + 1));
    EXPECT_EQ(out[0], std::byte{1});
  });
}

TEST(AlltoallPairwiseTest, GivesUpWhenInterrupted) {
  for (int absent : {0, 2, 4}) {
    ExpectInterruptible(5, absent, [](Team& team) {
      return CheckedAlltoall(
          team, [](int from, int to) { return 5000 * ((from + to) % 3); }, AlltoallPairwise);
    });
  }
}

TEST(AlltoallPairwiseTest, RefusesBlocksThatDoNotFit) {
  InProcessWorld(1).Run([](Team& team) {
    std::vector<std::byte> in(4);
    std::vector<std::byte> out(4);
    const Status beyond =
        AlltoallPairwise(team, in, Blocks::Rows(1, 5, 1), out, Blocks::Rows(1, 4, 1));
    EXPECT_EQ(beyond.code(), StatusCode::kInvalidArgument);
    const Status unequal =
        AlltoallPairwise(team, in, Blocks::Rows(1, 3, 1), out, Blocks::Rows(1, 4, 1));
    EXPECT_THAT(unequal.message(), testing::HasSubstr("3 bytes for itself but expects 4"));
  });
}

}  // namespace
}  // namespace horovodx::collectives

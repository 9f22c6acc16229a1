#include "horovodx/collectives/alltoall_counts.h"

#include <cstdint>
#include <vector>

#include "tests/horovodx/collectives/gather_support.h"

namespace horovodx::collectives {
namespace {

using namespace testing_support;  // NOLINT: the support of this very test

TEST(ExchangeCountsTest, EachRankLearnsWhatTheOthersHaveForIt) {
  OnEveryTeam([](Team& team) {
    const std::int64_t many = std::int64_t{1} << 40;
    std::vector<std::int64_t> send;
    std::vector<std::int64_t> expected;
    for (int peer = 0; peer < team.size(); ++peer) {
      send.push_back(many * team.rank() + peer);
      expected.push_back(many * peer + team.rank());
    }
    std::vector<std::int64_t> receive(send.size(), -1);
    const Status status = ExchangeCounts(team, send, receive);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(receive, expected);
  });
}

TEST(ExchangeCountsTest, NegativeCountIsAnErrorThatNamesItsSender) {
  InProcessWorld(3).Run([](Team& team) {
    const std::vector<std::int64_t> send(3, team.rank() == 1 ? -7 : 7);
    std::vector<std::int64_t> receive(3);
    EXPECT_THAT(ExchangeCounts(team, send, receive).message(),
                testing::HasSubstr("rank 1 announced -7"));
  });
}

TEST(ExchangeCountsTest, RefusesAnotherNumberOfCounts) {
  InProcessWorld(1).Run([](Team& team) {
    std::vector<std::int64_t> two(2);
    EXPECT_EQ(ExchangeCounts(team, two, two).code(), StatusCode::kInvalidArgument);
  });
}

}  // namespace
}  // namespace horovodx::collectives

#include "horovodx/negotiation/relay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace horovodx::negotiation {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

UpRecord From(std::int32_t rank, UpMessage message) {
  std::vector<UpRecord> one;
  Append(one, {rank}, std::move(message));
  return one[0];
}

TEST(RelayTest, EqualMessagesTravelOnce) {
  const Ready ready{0, 1, {}, {7, 8}, 0};
  const auto combined =
      Combine({From(0, ready), From(1, ready), From(2, Drained{}), From(2, ready)});
  ASSERT_THAT(combined, SizeIs(3));
  EXPECT_THAT(combined[0].from, ElementsAre(0, 1));
  EXPECT_THAT(combined[1].from, ElementsAre(2));
  EXPECT_THAT(combined[2].from, ElementsAre(2));
}

TEST(RelayTest, EveryRanksOrderIsKept) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<UpRecord> records;
    std::map<std::int32_t, std::vector<UpMessage>> said;
    for (int i = 0; i < 30; ++i) {
      const auto rank = static_cast<std::int32_t>(random() % 4);
      const Leave leave{0, 0, random() % 3};
      records.push_back(From(rank, leave));
      said[rank].push_back(leave);
    }
    const auto combined = Combine(records);
    EXPECT_LE(combined.size(), records.size());
    std::map<std::int32_t, std::vector<UpMessage>> heard;
    for (const UpRecord& record : combined) {
      for (std::int32_t rank : record.from) heard[rank].push_back(record.message);
    }
    EXPECT_EQ(heard, said);
  }
}

TEST(RelayTest, SplitsByTheNextHop) {
  std::vector<DownRecord> records;
  Append(records, {0, 1, 2, 3, 9}, Close{});
  Append(records, {3}, Shutdown{"why"});
  const auto ways = Split(records, {0, 0, 2, 2});
  ASSERT_THAT(ways, SizeIs(2));
  ASSERT_THAT(ways.at(0), SizeIs(1));
  EXPECT_THAT(ways.at(0)[0].to, ElementsAre(0, 1));
  ASSERT_THAT(ways.at(2), SizeIs(2));
  EXPECT_THAT(ways.at(2)[0].to, ElementsAre(2, 3));
  EXPECT_EQ(std::get<Shutdown>(ways.at(2)[1].message).why, "why");
}

}  // namespace
}  // namespace horovodx::negotiation

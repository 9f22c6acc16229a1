#include "horovodx/collectives/allgather_ring.h"

#include "tests/horovodx/collectives/allgather_support.h"
#include "tests/horovodx/collectives/large_support.h"

namespace horovodx::collectives {
namespace {

using namespace testing_support;  // NOLINT: the support of this very test

TEST(AllgatherRingTest, GathersBlocksOfAnySizeForAnyTeam) {
  ExpectGathersEverywhere(
      [](Team& team, const Blocks& blocks, std::span<const MutableBytes> out) {
        return AllgatherRing(team, blocks, out);
      },
      [](const Blocks& blocks, int rank) { return CostOfAllgatherRing(blocks, rank); });
}

TEST(AllgatherRingTest, GathersInManySegments) {
  constexpr std::size_t kSegment = 1000;
  ExpectGathersEverywhere(
      [](Team& team, const Blocks& blocks, std::span<const MutableBytes> out) {
        return AllgatherRing(team, blocks, out, kSegment);
      },
      [](const Blocks& blocks, int rank) { return CostOfAllgatherRing(blocks, rank, kSegment); });
}

TEST(AllgatherRingTest, CostOfEqualBlocksIsTheFormula) {
  const Blocks blocks = Blocks::Rows(6, 100, 6);
  const Traffic cost = CostOfAllgatherRing(blocks, 3);
  EXPECT_EQ(cost.messages, 5u);
  EXPECT_EQ(cost.bytes, 500u);
}

TEST(AllgatherRingTest, GivesUpWhenInterrupted) {
  ExpectAllgatherInterruptible(
      [](Team& team, const Blocks& blocks, std::span<const MutableBytes> out) {
        return AllgatherRing(team, blocks, out, 4000);
      });
}

TEST(AllgatherRingTest, RefusesBlocksBeyondTheOutput) {
  InProcessWorld(1).Run([](Team& team) {
    std::vector<std::byte> out(9);
    const Status status = AllgatherRing(team, Blocks::Rows(1, 10, 1), MutableBytes(out));
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  });
}

TEST(AllgatherRingTest, GathersMoreThan2GiB) {
  if (!kRoomForLarge) GTEST_SKIP() << "only where it is fast";
  const std::vector<std::size_t> sizes{1000, LargeBuffer::size()};
  InProcessWorld(2, WideLinks()).Run([&](Team& team) {
    LargeBuffer expected;
    expected.Fill();
    LargeBuffer large;
    if (team.rank() == 1) large.Fill();
    std::vector<std::byte> small(1000, std::byte{team.rank() == 0});
    std::vector<MutableBytes> out{small};
    out.insert(out.end(), large.pieces().begin(), large.pieces().end());
    ASSERT_TRUE(AllgatherRing(team, Blocks::Packed(sizes), out).ok());
    EXPECT_EQ(small, std::vector<std::byte>(1000, std::byte{1}));
    EXPECT_TRUE(large == expected);
  });
}

}  // namespace
}  // namespace horovodx::collectives

#include "horovodx/collectives/exchange.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/in_process_world.h"

namespace horovodx::collectives {
namespace {

using testing_support::InProcessWorld;

// One message's worth of int32, and more than that.
constexpr std::size_t kOneMessage = kMessageBytes / sizeof(int);

MutableBuffer InTwoPieces(std::vector<int>& x) {
  const std::size_t first = x.size() / 3;
  return MutableBuffer(ElementType::kInt32,
                       {{x.data(), first}, {x.data() + first, x.size() - first}});
}

TEST(ExchangeTest, ScratchIsReusedUntilMoreIsAskedFor) {
  Scratch scratch;
  void* const first = scratch.Get(ElementType::kInt64, 100).pieces().front().data;
  EXPECT_EQ(scratch.Get(ElementType::kUint8, 800).pieces().front().data, first);
  EXPECT_EQ(scratch.Get(ElementType::kUint8, 801).count(), 801u);
}

TEST(ExchangeTest, CopyMovesBetweenDifferentPieces) {
  std::vector<int> from{1, 2, 3, 4, 5};
  std::vector<int> to(5);
  const MutableBuffer pieces(ElementType::kInt32, {{to.data(), 2}, {to.data() + 2, 3}});
  Copy(pieces, InTwoPieces(from));
  EXPECT_EQ(to, from);
}

TEST(ExchangeTest, SendAndReduceLeavesMyOwnAlone) {
  InProcessWorld world(3);
  world.Run([](Team& team) {
    for (std::size_t count : {0UL, 1UL, 1000UL, 400'000UL}) {
      std::vector<int> own(count, team.rank());
      std::vector<int> in(count);
      const int right = (team.rank() + 1) % 3;
      const int left = (team.rank() + 2) % 3;
      ASSERT_TRUE(
          SendAndReduce(team, right, InTwoPieces(own), left, in, InTwoPieces(own), ReduceOp::kSum)
              .ok());
      EXPECT_EQ(own, std::vector<int>(own.size(), team.rank()));
      EXPECT_EQ(in, std::vector<int>(in.size(), team.rank() + left));
    }
  });
}

TEST(ExchangeTest, ReducesInPlaceInAsManyMessagesAsNeeded) {
  for (std::size_t count : {0UL, 1UL, kOneMessage, kOneMessage + 1, 2 * kOneMessage + 5}) {
    InProcessWorld world(2);
    world.Run([count](Team& team) {
      std::vector<int> x(count, team.rank() + 1);
      Scratch scratch;
      if (team.rank() == 0) {
        ASSERT_TRUE(SendInMessages(team, 1, InTwoPieces(x)).ok());
        EXPECT_EQ(team.traffic().messages, count == 0 ? 1 : (count - 1) / kOneMessage + 1);
      } else {
        ASSERT_TRUE(ReceiveAndReduceInto(team, 0, InTwoPieces(x), ReduceOp::kSum, scratch).ok());
        EXPECT_EQ(x, std::vector<int>(x.size(), 3));
      }
    });
  }
}

// Rank 0 has one element, and so one message, more to send than to receive.
TEST(ExchangeTest, SwapsPartsOfDifferentLengths) {
  InProcessWorld world(2);
  world.Run([](Team& team) {
    const std::size_t mine = team.rank() == 0 ? kOneMessage : kOneMessage + 1;
    const std::size_t theirs = 2 * kOneMessage + 1 - mine;
    std::vector<int> out(theirs, team.rank() + 1);
    std::vector<int> into(mine, 10);
    Scratch scratch;
    ASSERT_TRUE(SwapAndReduceInto(team, 1 - team.rank(), out, into, ReduceOp::kSum, scratch).ok());
    EXPECT_EQ(into, std::vector<int>(into.size(), 10 + 2 - team.rank()));
    EXPECT_EQ(team.traffic().messages, team.rank() == 0 ? 2u : 1u);
  });
}

TEST(ExchangeTest, SwapOfEverythingGivesBothTheSame) {
  for (std::size_t count : {0UL, 3UL, kOneMessage + 7}) {
    InProcessWorld world(2);
    world.Run([count](Team& team) {
      std::vector<int> x(count, team.rank() + 1);
      Scratch scratch;
      ASSERT_TRUE(
          SwapAndReduceAll(team, 1 - team.rank(), InTwoPieces(x), ReduceOp::kSum, scratch).ok());
      EXPECT_EQ(x, std::vector<int>(x.size(), 3));
    });
  }
}

}  // namespace
}  // namespace horovodx::collectives

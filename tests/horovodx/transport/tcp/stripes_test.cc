#include "horovodx/transport/tcp/stripes.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "horovodx/base/bytes.h"

namespace horovodx::transport::tcp {
namespace {

TEST(StripesTest, EachBlockNamesTheSocketOfTheNext) {
  Stripes stripes(3);
  EXPECT_EQ(stripes.socket(), 0u);
  EXPECT_TRUE(stripes.label_due());
  EXPECT_EQ(stripes.room(), kStripeBytes);
  ASSERT_TRUE(stripes.Begin(2));
  EXPECT_FALSE(stripes.label_due());
  stripes.Moved(0);
  stripes.Moved(kStripeBytes - 1);
  EXPECT_EQ(stripes.socket(), 0u);
  EXPECT_EQ(stripes.room(), 1u);
  stripes.Moved(1);
  EXPECT_EQ(stripes.socket(), 2u);
  EXPECT_TRUE(stripes.label_due());
  EXPECT_EQ(stripes.room(), kStripeBytes);
  ASSERT_TRUE(stripes.Begin(2));  // it may also stay
  stripes.Moved(kStripeBytes);
  EXPECT_EQ(stripes.socket(), 2u);
  EXPECT_FALSE(stripes.Begin(3)) << "there is no such socket";
}

TEST(StripesTest, OneSocketHasNoBlocks) {
  Stripes stripes(1);
  EXPECT_FALSE(stripes.label_due());
  stripes.Moved(5 * kStripeBytes + 7);
  EXPECT_FALSE(stripes.label_due());
  EXPECT_EQ(stripes.socket(), 0u);
  EXPECT_GT(stripes.room(), 1000 * kStripeBytes);
}

TEST(PieceCursorTest, EveryByteOnceInOrderWhateverTheSteps) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::byte> memory(random() % 500);
    std::vector<ConstBytes> pieces;
    for (std::size_t at = 0; at < memory.size();) {
      const std::size_t size = std::min<std::size_t>(random() % 5, memory.size() - at);
      pieces.push_back(ConstBytes(memory).subspan(at, size));  // also empty ones
      at += size;
    }
    PieceCursor<ConstBytes> cursor(pieces);
    std::size_t at = 0;
    while (!cursor.done()) {
      const std::size_t most = 1 + random() % 60;
      std::size_t offered = 0;
      std::byte label{};
      const bool labelled = random() % 2 == 0;
      std::span<iovec> pieces_now =
          cursor.Next(most, labelled ? MutableBytes(&label, 1) : MutableBytes());
      if (labelled) {
        ASSERT_EQ(pieces_now.front().iov_base, &label);
        pieces_now = pieces_now.subspan(1);
      }
      for (const iovec& v : pieces_now) {
        ASSERT_GT(v.iov_len, 0u);
        ASSERT_EQ(v.iov_base, memory.data() + at + offered);
        offered += v.iov_len;
      }
      ASSERT_EQ(offered, cursor.offered());
      ASSERT_GT(offered, 0u);
      ASSERT_LE(offered, most);
      const std::size_t step = 1 + random() % offered;
      cursor.Advance(step);
      at += step;
    }
    EXPECT_EQ(at, memory.size());
  }
}

}  // namespace
}  // namespace horovodx::transport::tcp

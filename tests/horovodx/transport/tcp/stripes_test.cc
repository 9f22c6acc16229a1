#include "horovodx/transport/tcp/stripes.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "horovodx/base/bytes.h"

namespace horovodx::transport::tcp {
namespace {

TEST(StripesTest, BlocksGoRound) {
  EXPECT_EQ(StreamOf(0, 3), 0u);
  EXPECT_EQ(StreamOf(kStripeBytes - 1, 3), 0u);
  EXPECT_EQ(StreamOf(kStripeBytes, 3), 1u);
  EXPECT_EQ(StreamOf(3 * kStripeBytes, 3), 0u);
  EXPECT_EQ(RoomAt(0), kStripeBytes);
  EXPECT_EQ(RoomAt(kStripeBytes - 1), 1u);
  EXPECT_EQ(RoomAt(kStripeBytes), kStripeBytes);
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
      for (const iovec& v : cursor.Next(most)) {
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

#include "horovodx/transport/shm/layout.h"

#include <gtest/gtest.h>

#include <vector>

#include "horovodx/transport/byte_ring.h"

namespace horovodx::transport::shm {
namespace {

struct Range {
  std::size_t begin, end;
};

TEST(ChannelLayoutTest, NothingInABlockOverlapsOrSticksOut) {
  for (int members : {1, 2, 3, 8, 64}) {
    const ChannelLayout layout(members, {});
    for (int me : {0, members / 2, members - 1}) {
      std::vector<Range> ranges{
          {layout.mark(), layout.mark() + 64},
          {layout.slot_memory(), layout.slot_memory() + layout.slots() * layout.slot_bytes()}};
      for (int to = 0; to < members; ++to) {
        if (to == me) continue;
        ranges.push_back({layout.counters(to), layout.counters(to) + sizeof(ByteRing::Counters)});
        ranges.push_back({layout.ring(me, to), layout.ring(me, to) + layout.ring_bytes()});
      }
      for (std::size_t a = 0; a < ranges.size(); ++a) {
        EXPECT_EQ(ranges[a].begin % 64, 0u);
        EXPECT_LE(ranges[a].end, layout.shape().block_bytes);
        for (std::size_t b = 0; b < a; ++b) {
          EXPECT_TRUE(ranges[a].end <= ranges[b].begin || ranges[b].end <= ranges[a].begin);
        }
      }
    }
  }
}

TEST(ChannelLayoutTest, RingsShrinkAsPairsGrowMany) {
  EXPECT_EQ(ChannelLayout(2, {}).ring_bytes(), 64u << 10);
  EXPECT_EQ(ChannelLayout(8, {}).ring_bytes(), 64u << 10);
  EXPECT_LE(ChannelLayout(64, {}).ring_bytes() * 64 * 63, 16u << 20);
  EXPECT_EQ(ChannelLayout(1000, {}).ring_bytes(), 1024u);
}

TEST(ChannelLayoutTest, TwoMembersNeedLessThanFourMebibytes) {
  EXPECT_LT(ChannelLayout(2, {}).shape().block_bytes * 2, 4u << 20);
}

}  // namespace
}  // namespace horovodx::transport::shm

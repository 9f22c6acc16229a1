#include "horovodx/collectives/rank_slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace horovodx::collectives {
namespace {

using testing::ElementsAre;

// 1e8 + 1 - 1e8 is 0 in float32 from the left, 1 in another order.
TEST(RankSlotsTest, AddsUpInRankOrderWhoeverIAm) {
  const float contributions[] = {1e8f, 1.0f, -1e8f};
  for (int me = 0; me < 3; ++me) {
    RankSlots slots(3, me);
    std::vector<float> own(3, contributions[me]);
    for (int rank = 0; rank < 3; ++rank) {
      if (rank == me) continue;
      std::vector<float> theirs(3, contributions[rank]);
      Copy(slots.Get(rank, ElementType::kFloat32, 3), theirs);
    }
    const MutableBuffer pieces(ElementType::kFloat32, {{own.data(), 1}, {own.data() + 1, 2}});
    slots.ReduceInto(pieces, ReduceOp::kSum);
    EXPECT_THAT(own, ElementsAre(0.0f, 0.0f, 0.0f)) << "as rank " << me;
  }
}

TEST(RankSlotsTest, SlotsTakeAboutAMebibyteAndHoldWholeElements) {
  for (int ranks : {2, 3, 17, 100}) {
    EXPECT_LE(SlotBytes(ranks) * static_cast<std::size_t>(ranks), std::size_t{1} << 20) << ranks;
    EXPECT_EQ(SlotBytes(ranks) % 8, 0u);
  }
}

}  // namespace
}  // namespace horovodx::collectives

#include "horovodx/collectives/patterns/ring.h"

#include <gtest/gtest.h>

namespace horovodx::collectives {
namespace {

TEST(RingPatternTest, WhatISendIsWhatMyRightNeighbourReceives) {
  for (int size : {2, 3, 5, 8}) {
    for (int rank = 0; rank < size; ++rank) {
      const RingPattern ring(rank, size);
      const RingPattern right(ring.right(), size);
      EXPECT_EQ(right.left(), rank);
      for (int s = 0; s < ring.steps(); ++s) {
        EXPECT_EQ(ring.ReduceSend(s), right.ReduceRecv(s));
        EXPECT_EQ(ring.GatherSend(s), right.GatherRecv(s));
      }
    }
  }
}

TEST(RingPatternTest, ISendOnWhatIReceivedAndEndWithMyOwnChunk) {
  for (int size : {2, 3, 5, 8}) {
    for (int rank = 0; rank < size; ++rank) {
      const RingPattern ring(rank, size);
      for (int s = 1; s < ring.steps(); ++s) {
        EXPECT_EQ(ring.ReduceSend(s), ring.ReduceRecv(s - 1));
        EXPECT_EQ(ring.GatherSend(s), ring.GatherRecv(s - 1));
      }
      EXPECT_EQ(ring.ReduceRecv(ring.steps() - 1), rank);
      EXPECT_EQ(ring.GatherSend(0), rank);
    }
  }
}

}  // namespace
}  // namespace horovodx::collectives

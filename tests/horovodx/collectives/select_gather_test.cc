#include "horovodx/collectives/select_gather.h"

#include <gtest/gtest.h>

namespace horovodx::collectives {
namespace {

constexpr std::size_t kKiB = 1 << 10;
constexpr std::size_t kMiB = 1 << 20;

TEST(SelectGatherTest, SmallAllgathersTakeFewStepsAndLargeOnesGoRound) {
  EXPECT_EQ(SelectAllgather(0, 8), AllgatherForm::kBruck);
  EXPECT_EQ(SelectAllgather(8 * kKiB, 8), AllgatherForm::kBruck);
  EXPECT_EQ(SelectAllgather(8 * kMiB, 8), AllgatherForm::kRing);
  EXPECT_EQ(SelectAllgather(100, 2), AllgatherForm::kRing);
}

TEST(SelectGatherTest, HierarchicalAllgathersAreAskedForAndNeedSeveralRanksAHost) {
  for (std::size_t bytes : {std::size_t{0}, 8 * kKiB, 8 * kMiB}) {
    EXPECT_EQ(SelectAllgather(bytes, 8, 4, true), AllgatherForm::kHierarchical);
    EXPECT_EQ(SelectAllgather(bytes, 5, 4, true), AllgatherForm::kHierarchical);
    EXPECT_NE(SelectAllgather(bytes, 8, 8, true), AllgatherForm::kHierarchical);
    EXPECT_NE(SelectAllgather(bytes, 8, 1, true), AllgatherForm::kHierarchical);
    EXPECT_NE(SelectAllgather(bytes, 8, 4, false), AllgatherForm::kHierarchical);
  }
}

TEST(SelectGatherTest, BroadcastsGrowFromTreeToScatterToChain) {
  EXPECT_EQ(SelectBroadcast(0, 8), BroadcastForm::kBinomial);
  EXPECT_EQ(SelectBroadcast(kKiB, 8), BroadcastForm::kBinomial);
  EXPECT_EQ(SelectBroadcast(kMiB, 8), BroadcastForm::kScatterAllgather);
  EXPECT_EQ(SelectBroadcast(100 * kMiB, 8), BroadcastForm::kChain);
  EXPECT_EQ(SelectBroadcast(100 * kMiB, 1000), BroadcastForm::kScatterAllgather);
  EXPECT_EQ(SelectBroadcast(100 * kMiB, 2), BroadcastForm::kBinomial);
}

TEST(SelectGatherTest, OnlyTinyBlocksAmongManyAreCarriedForOthers) {
  EXPECT_EQ(SelectAlltoall(8, 16), AlltoallForm::kBruck);
  EXPECT_EQ(SelectAlltoall(8, 4), AlltoallForm::kPairwise);
  EXPECT_EQ(SelectAlltoall(64 * kKiB, 16), AlltoallForm::kPairwise);
}

TEST(SelectGatherTest, LargeReducescattersOfManyRanksGoRound) {
  EXPECT_EQ(SelectReducescatter(kKiB, 64), ReducescatterForm::kPairwise);
  EXPECT_EQ(SelectReducescatter(64 * kMiB, 8), ReducescatterForm::kPairwise);
  EXPECT_EQ(SelectReducescatter(64 * kMiB, 64), ReducescatterForm::kRing);
}

TEST(SelectGatherTest, EveryFormHasAName) {
  EXPECT_STREQ(NameOf(AllgatherForm::kBruck), "bruck");
  EXPECT_STREQ(NameOf(AllgatherForm::kHierarchical), "hierarchical");
  EXPECT_STREQ(NameOf(BroadcastForm::kScatterAllgather), "scatter_allgather");
  EXPECT_STREQ(NameOf(AlltoallForm::kPairwise), "pairwise");
  EXPECT_STREQ(NameOf(ReducescatterForm::kRing), "ring");
}

}  // namespace
}  // namespace horovodx::collectives

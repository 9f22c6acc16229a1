// Every allreduce is right in segments of any size, and sends segments of that size.
#include "horovodx/collectives/segment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>
#include <vector>

#include "horovodx/collectives/allreduce_hierarchical_slices.h"
#include "horovodx/collectives/allreduce_ring.h"
#include "horovodx/collectives/rank_slots.h"
#include "horovodx/collectives/select.h"
#include "tests/support/in_process_world.h"

namespace horovodx::collectives {
namespace {

using testing_support::InProcessWorld;
using topology::HostMap;

TEST(SegmentTest, IsAPowerOfTwoInBounds) {
  for (std::size_t bytes : {std::size_t{0}, kLeastSegment, std::size_t{256} << 10, kMostSegment}) {
    EXPECT_TRUE(IsSegment(bytes)) << bytes;
  }
  for (std::size_t bytes : {std::size_t{1}, kLeastSegment / 2, kLeastSegment + 8, 2 * kMostSegment,
                            std::size_t{3} << 17}) {
    EXPECT_FALSE(IsSegment(bytes)) << bytes;
  }
}

TEST(SegmentTest, ScratchStaysBounded) {
  for (int ranks : {1, 2, 3, 8, 100, 5000}) {
    const auto n = static_cast<std::size_t>(ranks);
    for (std::size_t segment = kLeastSegment; segment <= kMostSegment; segment *= 2) {
      EXPECT_TRUE(std::has_single_bit(SlotBytes(ranks, segment)));
      EXPECT_LE(SlotBytes(ranks, segment), segment);
      EXPECT_LE(SlotBytes(ranks, segment) * n, std::max<std::size_t>(8 << 20, n << 12));
      EXPECT_LE(SliceBytes(ranks, std::size_t{1} << 30, segment), std::size_t{2} << 20);
      EXPECT_GE(SliceBytes(ranks, 0, segment), kLeastSegment);
    }
  }
}

// One after another, as plans come and go: algorithm, segment and count at random, the same for all
// ranks. Sums are exact.
TEST(SegmentTest, EveryAllreduceIsRightWhateverTheSegment) {
  for (const HostMap& hosts : {HostMap::OneHost(2), HostMap::Grid(3, 1), HostMap::Grid(2, 2),
                               HostMap({"a", "a", "b"}), HostMap({"a", "b", "b", "b", "c"})}) {
    InProcessWorld world(hosts);
    world.Run([&](Team& team) {
      std::mt19937 random(7);
      const auto all = AllAllreduceAlgorithms();
      for (int turn = 0; turn < 60; ++turn) {
        const AllreduceAlgorithm algorithm = all[static_cast<std::size_t>(turn) % all.size()];
        if (algorithm == AllreduceAlgorithm::kMpi) continue;  // which cuts as it likes
        const std::size_t segment = random() % 5 == 0 ? 0 : kLeastSegment << (random() % 6);
        const std::size_t most = random() % 3 == 0 ? 400'000 : 3'000;
        const std::size_t count = random() % most;
        team.SetSegment(segment);
        std::vector<float> x(count);
        for (std::size_t i = 0; i < count; ++i) {
          x[i] = static_cast<float>(i % 101 + static_cast<std::size_t>(team.rank()));
        }
        const MutableBuffer buffer(ElementType::kFloat32, x.data(), count);
        const Status status = FunctionOf(algorithm)(team, buffer, ReduceOp::kSum);
        ASSERT_TRUE(status.ok()) << status.ToString();
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < count; ++i) {
          const auto n = static_cast<std::size_t>(team.size());
          wrong += x[i] != static_cast<float>(n * (i % 101) + n * (n - 1) / 2) ? 1 : 0;
        }
        ASSERT_EQ(wrong, 0u) << NameOf(algorithm) << ", " << count << " elements, segment "
                             << segment;
      }
    });
  }
}

TEST(SegmentTest, MessagesAreAsLongAsAskedFor) {
  constexpr std::size_t kBytes = 4 << 20;
  const auto messages = [](AllreduceAlgorithm algorithm, const HostMap& hosts,
                           std::size_t segment) {
    std::uint64_t sent = 0;
    InProcessWorld(hosts).Run([&](Team& team) {
      team.SetSegment(segment);
      std::vector<float> x(kBytes / sizeof(float));
      const MutableBuffer buffer(ElementType::kFloat32, x.data(), x.size());
      ASSERT_TRUE(FunctionOf(algorithm)(team, buffer, ReduceOp::kSum).ok());
      if (team.rank() == team.size() - 1) sent = team.traffic().messages;
    });
    return sent;
  };
  using A = AllreduceAlgorithm;
  EXPECT_EQ(messages(A::kRing, HostMap::OneHost(2), 64 << 10), 64u);
  EXPECT_EQ(messages(A::kRing, HostMap::OneHost(2), 0), 16u);
  EXPECT_EQ(messages(A::kRing, HostMap::OneHost(2), 2 << 20), 2u);
  EXPECT_EQ(messages(A::kAllToAll, HostMap::OneHost(2), 1 << 20), 4u);
  for (const A algorithm : {A::kRecursiveDoubling, A::kRecursiveHalvingDoubling, A::kTree,
                            A::kRoundRobin, A::kMasterWorker}) {
    EXPECT_GT(messages(algorithm, HostMap::OneHost(4), 64 << 10),
              messages(algorithm, HostMap::OneHost(4), 2 << 20))
        << NameOf(algorithm);
  }
  for (const A algorithm : {A::kHierarchicalSlices, A::kTorus}) {
    EXPECT_GT(messages(algorithm, HostMap::Grid(2, 2), 64 << 10),
              messages(algorithm, HostMap::Grid(2, 2), 2 << 20))
        << NameOf(algorithm);
  }
}

}  // namespace
}  // namespace horovodx::collectives

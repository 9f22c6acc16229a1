// More than 2^31 bytes through what sums and deals out in ways of its own. (Ring, allgather and
// broadcast have such a test beside their others.)
#include <gtest/gtest.h>

#include "horovodx/collectives/alltoall_pairwise.h"
#include "horovodx/collectives/reducescatter_pairwise.h"
#include "horovodx/collectives/reducescatter_ring.h"
#include "horovodx/collectives/select.h"
#include "tests/horovodx/collectives/large_support.h"

namespace horovodx::collectives {
namespace {

using testing_support::InProcessWorld;
using testing_support::kRoomForLarge;
using testing_support::LargeCounts;
using testing_support::WideLinks;
using topology::HostMap;

class Large : public testing::Test {
 protected:
  void SetUp() override {
    if (!kRoomForLarge) GTEST_SKIP() << "only where it is fast";
  }
};

Blocks Packed(const std::vector<std::size_t>& sizes) { return Blocks::Packed(sizes); }

MutableBuffer BufferOf(const LargeCounts& x) { return {ElementType::kUint8, x.data(), x.count()}; }

void ExpectSum(AllreduceAlgorithm algorithm, const HostMap& hosts) {
  SCOPED_TRACE(NameOf(algorithm));
  InProcessWorld(hosts, WideLinks()).Run([&](Team& team) {
    const LargeCounts x(team.rank() + 1);
    ASSERT_TRUE(x.ok());
    ASSERT_TRUE(FunctionOf(algorithm)(team, BufferOf(x), ReduceOp::kSum).ok());
    const int n = team.size();
    EXPECT_TRUE(x.Hold(n * (n + 1) / 2, team.rank() == n - 1));
  });
}

TEST_F(Large, AllreduceByHostsAndSlices) {
  ExpectSum(AllreduceAlgorithm::kHierarchicalSlices, HostMap({"a", "b", "b"}));
}
TEST_F(Large, AllreduceOnATorus) { ExpectSum(AllreduceAlgorithm::kTorus, HostMap::OneHost(4)); }
TEST_F(Large, AllreduceAllToAll) { ExpectSum(AllreduceAlgorithm::kAllToAll, HostMap::OneHost(2)); }

// Rank 0 has all for rank 1 but a byte for itself; rank 1 has nothing.
TEST_F(Large, Alltoall) {
  InProcessWorld(2, WideLinks()).Run([](Team& team) {
    const bool sends = team.rank() == 0;
    const std::size_t all = LargeCounts::kCount;
    const LargeCounts x(sends ? 7 : 0, all + 1);
    ASSERT_TRUE(x.ok());
    if (sends) {
      x.data()[all] = 9;  // the last byte, for itself; the one before is rank 1's last
      std::uint8_t mine = 0;
      const Blocks send({{all, 1}, {0, all}});
      ASSERT_TRUE(AlltoallPairwise(team, BytesOf(x.data(), all + 1), send, MutableBytesOf(&mine, 1),
                                   Packed({1, 0}))
                      .ok());
      EXPECT_EQ(mine, 9);
      return;
    }
    const LargeCounts out(0);
    ASSERT_TRUE(AlltoallPairwise(team, {}, Packed({0, 0}), MutableBytesOf(out.data(), all),
                                 Packed({all, 0}))
                    .ok());
    EXPECT_EQ(out.data()[6], 7);
    EXPECT_EQ(out.data()[std::size_t{1} << 31], 7);
    EXPECT_EQ(out.data()[(std::size_t{1} << 31) + 1], 0);
  });
}

// Rank 1's block is the large one, and begins behind one of rank 0's.
template <typename Reducescatter>
void ExpectDealtOut(const Reducescatter& reducescatter) {
  InProcessWorld(2, WideLinks()).Run([&](Team& team) {
    const std::size_t all = LargeCounts::kCount + 3;
    const LargeCounts in(team.rank() + 1, all);
    const LargeCounts out(0);
    ASSERT_TRUE(in.ok() && out.ok());
    const Blocks blocks = Packed({3, LargeCounts::kCount});
    const std::size_t mine = blocks[team.rank()].size;
    const Status status = reducescatter(team, BufferOf(in), blocks,
                                        MutableBuffer(ElementType::kUint8, out.data(), mine));
    ASSERT_TRUE(status.ok()) << status.ToString();
    if (team.rank() == 0) {
      EXPECT_EQ(out.data()[0], 3);
      return;
    }
    for (std::size_t at :
         {std::size_t{6}, (std::size_t{1} << 31) - 1, std::size_t{1} << 31, all - 1}) {
      EXPECT_EQ(out.data()[at - 3], 3) << at;
    }
    EXPECT_EQ(std::count(out.data(), out.data() + mine, 3), 4);
  });
}

TEST_F(Large, ReducescatterRing) {
  ExpectDealtOut([](Team& team, const auto& in, const auto& blocks, const auto& out) {
    return ReducescatterRing(team, in, blocks, out);
  });
}
TEST_F(Large, ReducescatterPairwise) {
  ExpectDealtOut([](Team& team, const auto& in, const auto& blocks, const auto& out) {
    return ReducescatterPairwise(team, in, blocks, out);
  });
}

}  // namespace
}  // namespace horovodx::collectives

#include "horovodx/collectives/ring_passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "tests/support/in_process_world.h"

namespace horovodx::collectives {
namespace {

using testing_support::InProcessWorld;

std::vector<int> Values(const MutableBuffer& buffer) {
  std::vector<int> values(buffer.count());
  Copy(values, buffer);
  return values;
}

// Chunks of very different sizes, one of them empty.
TEST(RingPassesTest, ReduceThenGatherOverUnevenChunks) {
  for (int ranks : {1, 2, 4}) {
    InProcessWorld world(ranks);
    world.Run([](Team& team) {
      const ChunkPlan chunk = ChunkPlan::Merged(ChunkPlan(10, 3), team.size());
      std::vector<int> x(10);
      std::iota(x.begin(), x.end(), team.rank());
      const std::vector<int> input = x;
      RingScratch scratch;
      auto sums = ReducePass(team, x, chunk, ReduceOp::kSum, scratch);
      ASSERT_TRUE(sums.ok());
      EXPECT_EQ(x, input);  // only read
      const int n = team.size();
      std::vector<int> expected(10);
      for (int i = 0; i < 10; ++i) expected[i] = n * i + n * (n - 1) / 2;
      EXPECT_EQ(Values(*sums), Values(Part(expected, chunk[team.rank()])));
      Copy(Part(x, chunk[team.rank()]), *sums);
      ASSERT_TRUE(GatherPass(team, x, chunk).ok());
      EXPECT_EQ(x, expected);
    });
  }
}

}  // namespace
}  // namespace horovodx::collectives

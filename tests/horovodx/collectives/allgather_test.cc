#include "horovodx/collectives/allgather.h"

#include "tests/horovodx/collectives/allgather_support.h"

namespace horovodx::collectives {
namespace {

using namespace testing_support;  // NOLINT: the support of this very test

TEST(AllgatherTest, GathersWhicheverFormIsChosen) {
  InProcessWorld(5, NarrowLinks()).Run([](Team& team) {
    for (std::size_t each : {0, 1, 1000, 10'000, 100'000}) {
      const Blocks blocks = Blocks::Rows(5, each, 5);
      std::vector<std::byte> out(blocks.total(), std::byte{0xEE});
      Fill(out, blocks, team.rank());
      ASSERT_TRUE(Allgather(team, blocks, InPieces(out)).ok());
      EXPECT_TRUE(out == Gathered(blocks, out.size()));
    }
  });
}

}  // namespace
}  // namespace horovodx::collectives

#include "horovodx/collectives/broadcast.h"

#include "tests/horovodx/collectives/broadcast_support.h"

namespace horovodx::collectives {
namespace {

using namespace testing_support;  // NOLINT: the support of this very test

TEST(BroadcastTest, BroadcastsWhicheverFormIsChosen) {
  InProcessWorld(3).Run([](Team& team) {
    for (std::size_t size : {0, 1000, 100'000, 3'000'000}) {
      auto buffer = FromRoot(team.rank(), size);
      ASSERT_TRUE(Broadcast(team, 2, InPieces(buffer)).ok());
      EXPECT_TRUE(buffer == FromRoot(2, size));
    }
  });
}

TEST(BroadcastTest, RefusesARootOutsideTheTeam) {
  InProcessWorld(1).Run([](Team& team) {
    EXPECT_THAT(Broadcast(team, 1, {}).message(), testing::HasSubstr("no rank 1 in a team of 1"));
    EXPECT_EQ(Broadcast(team, -1, {}).code(), StatusCode::kInvalidArgument);
  });
}

}  // namespace
}  // namespace horovodx::collectives

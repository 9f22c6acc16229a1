#include "horovodx/collectives/alltoall.h"

#include "tests/horovodx/collectives/alltoall_support.h"

namespace horovodx::collectives {
namespace {

using namespace testing_support;  // NOLINT: the support of this very test

TEST(AlltoallTest, ExchangesWhicheverFormIsChosen) {
  InProcessWorld(6).Run([](Team& team) {
    for (std::size_t each : {0, 8, 100'000}) {
      const Status status = CheckedAlltoall(
          team, [&](int, int) { return each; },
          [](Team& t, ConstBytes in, const Blocks&, MutableBytes out, const Blocks&) {
            return Alltoall(t, in, out);
          });
      ASSERT_TRUE(status.ok()) << status.ToString();
    }
  });
}

TEST(AlltoallTest, RefusesWhatIsNotEqualBlocks) {
  InProcessWorld(2).Run([](Team& team) {
    std::vector<std::byte> five(5);
    EXPECT_EQ(Alltoall(team, five, five).code(), StatusCode::kInvalidArgument);
  });
}

}  // namespace
}  // namespace horovodx::collectives

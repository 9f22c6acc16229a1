#include "horovodx/collectives/reducescatter.h"

#include "tests/horovodx/collectives/reducescatter_support.h"

namespace horovodx::collectives {
namespace {

using namespace testing_support;  // NOLINT: the support of this very test

TEST(ReducescatterTest, ReducesWhicheverFormIsChosen) {
  for (int ranks : {2, 17}) {
    InProcessWorld(ranks, NarrowLinks()).Run([](Team& team) {
      for (std::size_t rows : {0, 5, 1000, 100'000}) {
        const Status status =
            CheckedReducescatter(team, ElementType::kFloat32, ReduceOp::kSum,
                                 Blocks::Rows(rows, 1, team.size()), Reducescatter);
        ASSERT_TRUE(status.ok()) << status.ToString();
      }
    });
  }
}

}  // namespace
}  // namespace horovodx::collectives

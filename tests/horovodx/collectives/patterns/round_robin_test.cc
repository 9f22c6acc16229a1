#include "horovodx/collectives/patterns/round_robin.h"

#include <gtest/gtest.h>

#include <set>

namespace horovodx::collectives {
namespace {

TEST(RoundRobinPatternTest, EverybodyMeetsEverybodyOnceEachWay) {
  for (int size : {1, 2, 3, 8}) {
    for (int rank = 0; rank < size; ++rank) {
      const RoundRobinPattern rounds(rank, size);
      std::set<int> met{rank};
      for (int s = 0; s < rounds.rounds(); ++s) {
        met.insert(rounds.To(s));
        EXPECT_EQ(RoundRobinPattern(rounds.To(s), size).From(s), rank);
      }
      EXPECT_EQ(static_cast<int>(met.size()), size);
    }
  }
}

}  // namespace
}  // namespace horovodx::collectives

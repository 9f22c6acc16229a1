#include "horovodx/schedule/in_a_row.h"

#include <gtest/gtest.h>

#include <random>

#include "horovodx/schedule/cut.h"

namespace horovodx::schedule {
namespace {

TEST(InARowTest, ALineStaysAsItIs) {
  const CostModel cost = InARow(CostModel(50e-6, 1e-9), 1000);
  EXPECT_EQ(cost.pieces().size(), 1u);
  EXPECT_DOUBLE_EQ(cost.Seconds(0), 50e-6);
  EXPECT_DOUBLE_EQ(cost.Seconds(1'000'000), 1050e-6);
}

TEST(InARowTest, ABurstIsPaidAtTheLinesPace) {
  // As measured through a token bucket: the first 100 KB leave four times as fast.
  const CostModel burst = CostModel::Of({{0, 60e-6, 1.0 / 400e6}, {100'000, -440e-6, 1.0 / 133e6}});
  const CostModel cost = InARow(burst, 0);
  EXPECT_EQ(cost.pieces().size(), 1u);
  EXPECT_DOUBLE_EQ(cost.Seconds(0), 60e-6);
  EXPECT_DOUBLE_EQ(cost.Seconds(1'000'000), 60e-6 + 1e6 / 133e6);
}

TEST(InARowTest, CheapSmallCollectivesStayCheap) {
  // Another algorithm from 10 KB on: more latency, fewer seconds a byte.
  const CostModel two = CostModel::Of({{0, 20e-6, 50e-9}, {10'000, 510e-6, 1e-9}});
  const CostModel cost = InARow(two, 0);
  EXPECT_EQ(cost.pieces().size(), 2u);
  for (const std::uint64_t bytes : {0, 5'000, 10'000, 1'000'000}) {
    EXPECT_NEAR(cost.Seconds(bytes), two.Seconds(bytes), 1e-12) << bytes;
  }
}

TEST(InARowTest, NothingIsNotForFreeBecauseItWasNotMeasured) {
  const CostModel through_nothing = CostModel::Of({{0, 0.0, 50e-9}, {4'000, 190e-6, 2.5e-9}});
  EXPECT_DOUBLE_EQ(InARow(through_nothing, 2'000).Seconds(0), 95e-6);
}

TEST(InARowTest, ALineThroughLargeSizesDoesNotMakeSmallOnesFree) {
  const CostModel through_nothing(0.0, 1e-9);
  EXPECT_DOUBLE_EQ(InARow(through_nothing, 100'000).Seconds(0), 25e-6);
  EXPECT_DOUBLE_EQ(InARow(through_nothing, 100'000'000).Seconds(0), 1e-3);
  EXPECT_DOUBLE_EQ(InARow(CostModel(30e-6, 1e-9), 100).Seconds(0), 30e-6) << "as measured";
  // 1,000 tensors of 8 KB come within 20 ms; the network needs a second for them.
  std::vector<Tensor> tensors;
  for (int i = 0; i < 1000; ++i) tensors.push_back({20e-6 * i, 8'000, 0, -1});
  Options options;
  options.cost = InARow(CostModel(0.0, 125e-9), 100'000);
  EXPECT_LE(Cut("optimal", tensors, options).size(), 20u);
}

TEST(InARowTest, AFunctionIsReturned) {
  const CostModel cost = InARow(
      CostModel::Of([](std::uint64_t bytes) { return 1.0 + static_cast<double>(bytes); }), 0);
  EXPECT_DOUBLE_EQ(cost.Seconds(2), 3.0);
}

TEST(InARowTest, IsTheLeastConcaveCostThatIsNowhereBelow) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Piece> pieces = {{0, uniform(random), uniform(random)}};
    while (pieces.size() < 5 && uniform(random) < 0.7) {
      const Piece& before = pieces.back();
      Piece next{before.from + 1 + random() % 10, 0.0, uniform(random)};
      const auto at = static_cast<double>(next.from);
      const double jump = uniform(random) < 0.5 ? uniform(random) : 0.0;
      next.latency = before.At(at) + jump - at * next.seconds_per_byte;
      pieces.push_back(next);
    }
    const CostModel raw = CostModel::Of(pieces);
    const CostModel cost = InARow(raw, 0);
    // By definition: the highest chord of the raw cost above each size, far points included.
    for (std::uint64_t x = 0; x <= 60; ++x) {
      double least = raw.Seconds(x);
      for (std::uint64_t a = 0; a < x; ++a) {
        for (const std::uint64_t b : {x + 1, x + 2, x + 3, x + 5, x + 10, x + 20, x + 40}) {
          const double share = static_cast<double>(x - a) / static_cast<double>(b - a);
          least = std::max(least, raw.Seconds(a) * (1 - share) + raw.Seconds(b) * share);
        }
      }
      ASSERT_GE(cost.Seconds(x), least - 1e-9) << "round " << round << " at " << x;
      for (std::uint64_t y = 0; y <= 60; ++y) {
        ASSERT_LE(cost.Seconds(x + y), cost.Seconds(x) + cost.Seconds(y) + 1e-9);
      }
    }
    // Least: it touches the raw cost wherever it bends.
    for (const Piece& piece : cost.pieces()) {
      ASSERT_NEAR(cost.Seconds(piece.from), raw.Seconds(piece.from), 1e-9) << "round " << round;
    }
  }
}

TEST(InARowTest, ACutMakesFewerBucketsOfABurst) {
  const CostModel burst = CostModel::Of({{0, 60e-6, 1.0 / 400e6}, {100'000, -440e-6, 1.0 / 133e6}});
  std::vector<Tensor> tensors(1000);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    tensors[i].bytes = 8'000;
    tensors[i].ready = 20e-6 * static_cast<double>(i);
  }
  Options options;
  options.cost = burst;
  const std::size_t deceived = Cut("optimal", tensors, options).size();
  options.cost = InARow(burst, 0);
  EXPECT_LT(Cut("optimal", tensors, options).size(), deceived / 4);
}

}  // namespace
}  // namespace horovodx::schedule

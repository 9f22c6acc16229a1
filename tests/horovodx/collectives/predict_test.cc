#include "horovodx/collectives/predict.h"

#include <gtest/gtest.h>

#include "horovodx/collectives/allreduce_ring.h"

namespace horovodx::collectives {
namespace {

using A = AllreduceAlgorithm;

SelectInput On(int hosts, int local, std::size_t bytes) {
  return {.bytes = bytes, .ranks = hosts * local, .hosts = hosts, .ranks_per_host = local};
}

AllreduceCosts Links(LinkCost host, LinkCost net) {
  AllreduceCosts costs;
  costs.levels = {host, net};
  return costs;
}

TEST(PredictTest, WhatNeverRanIsWhatItsLinksTake) {
  const AllreduceCosts costs = Links({1e-6, 1e-10}, {50e-6, 1e-9});
  const Prediction p = PredictAllreduce(A::kRing, On(4, 1, 1'000'000), costs);
  EXPECT_DOUBLE_EQ(p.seconds, 6 * 50e-6 + 1.5e6 * 1e-9);
  EXPECT_FALSE(p.measured);
  EXPECT_DOUBLE_EQ(PredictAllreduce(A::kRing, On(1, 4, 1'000'000), costs).seconds,
                   6 * 1e-6 + 1.5e6 * 1e-10);
}

TEST(PredictTest, RowsAndColumnsTakeAsLongAsTheLongerOfThem) {
  const std::size_t bytes = 64 << 20;
  for (A algorithm : {A::kHierarchicalSlices, A::kTorus}) {
    const auto takes = [&](double host, double net) {
      return SecondsByLinks(algorithm, On(4, 2, bytes), {{0.0, host}, {0.0, net}});
    };
    const double host = takes(1e-10, 0.0);
    const double net = takes(0.0, 1e-9);
    EXPECT_LT(takes(1e-10, 1e-9), net + 0.2 * host);
    EXPECT_GT(takes(1e-10, 1e-9), net);
    EXPECT_LT(takes(1e-8, 1e-9), 100 * host + 0.2 * net);
  }
  // One window has nothing to run beside.
  const auto small = [&](double host, double net) {
    return SecondsByLinks(A::kTorus, On(4, 2, 800), {{0.0, host}, {0.0, net}});
  };
  EXPECT_NEAR(small(1e-9, 1e-9), small(1e-9, 0.0) + small(0.0, 1e-9), 1e-15);
}

TEST(PredictTest, ARunCorrectsItsOwnAlgorithmNearItsSizeMost) {
  AllreduceCosts costs = Links({1e-6, 1e-10}, {50e-6, 1e-9});
  const double ring = PredictAllreduce(A::kRing, On(4, 1, 1 << 20), costs).seconds;
  const double tree = PredictAllreduce(A::kTree, On(4, 1, 1 << 20), costs).seconds;
  costs.corrections[static_cast<std::size_t>(A::kRing)] = {{1 << 20, 2.0}};
  const Prediction there = PredictAllreduce(A::kRing, On(4, 1, 1 << 20), costs);
  EXPECT_DOUBLE_EQ(there.seconds, 2 * ring);
  EXPECT_TRUE(there.measured);
  EXPECT_EQ(PredictAllreduce(A::kTree, On(4, 1, 1 << 20), costs).seconds, tree);
  const AllreduceCosts plain = Links({1e-6, 1e-10}, {50e-6, 1e-9});
  double before = 2.0;
  for (std::size_t bytes : {4u << 20, 64u << 20, 1u << 30}) {
    const Prediction far = PredictAllreduce(A::kRing, On(4, 1, bytes), costs);
    const double factor = far.seconds / PredictAllreduce(A::kRing, On(4, 1, bytes), plain).seconds;
    EXPECT_LT(factor, before);
    EXPECT_GT(factor, 1.0);
    EXPECT_FALSE(far.measured);
    before = factor;
  }
}

TEST(PredictTest, BetweenTwoMeasuredSizesTheFactorGoesFromOneToTheOther) {
  AllreduceCosts costs = Links({1e-6, 1e-10}, {50e-6, 1e-9});
  const double plain = PredictAllreduce(A::kRing, On(4, 1, 1 << 14), costs).seconds;
  costs.corrections[static_cast<std::size_t>(A::kRing)] = {{1 << 10, 1.0}, {1 << 18, 4.0}};
  EXPECT_NEAR(PredictAllreduce(A::kRing, On(4, 1, 1 << 14), costs).seconds, 2 * plain, 1e-12);
  EXPECT_NEAR(PredictAllreduce(A::kRing, On(4, 1, 1 << 18), costs).seconds,
              4 * SecondsByLinks(A::kRing, On(4, 1, 1 << 18), costs.levels), 1e-12);
}

TEST(PredictTest, RankZeroIsDoneWithATreeBeforeTheOthers) {
  const LevelCosts levels{{1e-6, 1e-10}, {50e-6, 1e-9}};
  EXPECT_LT(SecondsByLinks(A::kTree, On(8, 1, 100), levels, Until::kFirst),
            SecondsByLinks(A::kTree, On(8, 1, 100), levels));
  EXPECT_EQ(SecondsByLinks(A::kRing, On(8, 1, 100), levels, Until::kFirst),
            SecondsByLinks(A::kRing, On(8, 1, 100), levels));
  EXPECT_EQ(SecondsByLinks(A::kRing, On(1, 1, 100), levels), 0.0);
}

}  // namespace
}  // namespace horovodx::collectives

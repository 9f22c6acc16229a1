#include "horovodx/schedule/algorithm_costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace horovodx::schedule {
namespace {

using A = collectives::AllreduceAlgorithm;
using collectives::AllreduceCosts;
using collectives::LevelCosts;
using collectives::PredictAllreduce;
using collectives::SelectInput;

constexpr LevelCosts kTrue{{3e-6, 1.0 / 8e9}, {200e-6, 1.0 / 12e6}};

SelectInput On(int hosts, int local, std::size_t bytes = 0) {
  return {.bytes = bytes, .ranks = hosts * local, .hosts = hosts, .ranks_per_host = local};
}

// As rank 0 would have seen it, up to 5 % off and one in four far too late.
void Measure(AlgorithmCosts& costs, A algorithm, SelectInput team, double times = 1.0) {
  std::mt19937 random(3);
  for (std::size_t bytes = 256; bytes <= 64 << 20; bytes *= 4) {
    team.bytes = bytes;
    const double seconds =
        times * SecondsByLinks(algorithm, team, kTrue, collectives::Until::kFirst);
    for (int i = 0; i < 12; ++i) {
      const double wrong = std::uniform_real_distribution<double>(0.95, 1.05)(random);
      costs.Add(algorithm, bytes, seconds * wrong * (i % 4 == 0 ? 7.0 : 1.0));
    }
  }
}

TEST(AlgorithmCostsTest, LinksLearntFromTwoAlgorithmsPredictAThird) {
  const SelectInput team = On(4, 2);
  AlgorithmCosts costs(team);
  Measure(costs, A::kHierarchicalSlices, team);
  Measure(costs, A::kRing, team);
  const AllreduceCosts fitted = costs.Fit();
  for (std::size_t bytes = 1 << 10; bytes <= 16 << 20; bytes *= 4) {
    const SelectInput input = On(4, 2, bytes);
    for (A never : {A::kTree, A::kHierarchical, A::kRecursiveDoubling}) {
      const auto predicted = PredictAllreduce(never, input, fitted);
      EXPECT_FALSE(predicted.measured);
      EXPECT_NEAR(predicted.seconds / SecondsByLinks(never, input, kTrue), 1.0, 0.25)
          << NameOf(never) << " " << bytes;
    }
  }
}

TEST(AlgorithmCostsTest, WhatMpisOwnTakesSaysNothingOfTheLinks) {
  const SelectInput team = On(4, 1);
  AlgorithmCosts costs(team);
  Measure(costs, A::kRing, team);
  const LevelCosts before = costs.Fit().levels;
  Measure(costs, A::kMpi, team, /*times=*/20.0);
  const AllreduceCosts fitted = costs.Fit();
  EXPECT_EQ(fitted.levels.net.latency, before.net.latency);
  EXPECT_EQ(fitted.levels.net.seconds_per_byte, before.net.seconds_per_byte);
  const SelectInput input = On(4, 1, 1 << 20);
  const auto own = PredictAllreduce(A::kMpi, input, fitted);
  EXPECT_TRUE(own.measured);
  EXPECT_NEAR(own.seconds / SecondsByLinks(A::kMpi, input, kTrue), 20.0, 4.0);
}

TEST(AlgorithmCostsTest, AnAlgorithmThatIsSlowerThanItsLinksIsKnownToBe) {
  const SelectInput team = On(4, 1);
  AlgorithmCosts costs(team);
  Measure(costs, A::kRing, team);
  Measure(costs, A::kRecursiveHalvingDoubling, team);
  Measure(costs, A::kTree, team, /*times=*/3.0);
  const AllreduceCosts fitted = costs.Fit();
  for (std::size_t bytes : {4096UL, 1UL << 20, 16UL << 20}) {
    const SelectInput input = On(4, 1, bytes);
    const auto ring = PredictAllreduce(A::kRing, input, fitted);
    const auto tree = PredictAllreduce(A::kTree, input, fitted);
    EXPECT_TRUE(ring.measured);
    EXPECT_NEAR(ring.seconds / SecondsByLinks(A::kRing, input, kTrue), 1.0, 0.1) << bytes;
    EXPECT_NEAR(tree.seconds / SecondsByLinks(A::kTree, input, kTrue), 3.0, 0.4) << bytes;
  }
}

TEST(AlgorithmCostsTest, TimesAreKeptApart) {
  AlgorithmCosts costs(On(2, 1));
  for (int i = 0; i < 5; ++i) costs.Add(A::kRing, 1000, 1e-3);
  costs.Add(A::kTree, 1000, 5e-3);
  EXPECT_EQ(costs.samples(), 6u);
  EXPECT_EQ(costs.SamplesLike(A::kRing, 1010), 5u);
  EXPECT_EQ(costs.SamplesLike(A::kRing, 9000), 0u);
  EXPECT_EQ(costs.SamplesLike(A::kTorus, 1000), 0u);
  EXPECT_NEAR(costs.by_algorithm().at(A::kRing).Fit().Seconds(1000), 1e-3, 1e-6);
  EXPECT_NEAR(costs.by_algorithm().at(A::kTree).Fit().Seconds(1000), 5e-3, 1e-6);
}

TEST(AlgorithmCostsTest, SaysWhatLinksTake) {
  EXPECT_THAT(Describe(kTrue), testing::StartsWith("inside a host 3 us + 8 GB/s, between hosts"));
}

}  // namespace
}  // namespace horovodx::schedule

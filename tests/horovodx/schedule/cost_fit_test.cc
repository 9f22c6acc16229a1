#include "horovodx/schedule/cost_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "horovodx/schedule/line_fit.h"

namespace horovodx::schedule {
namespace {

constexpr Piece kPrior{0, 100e-6, 1.0 / 4e9};
const std::vector<std::uint64_t> kSizes = {100, 4096, 65536, 1 << 20, 16 << 20, 64 << 20};

class Noise {
 public:
  // Up to 5 % off; one in four three to ten times too long.
  double Wrong(double seconds) {
    const double scale = std::uniform_real_distribution<double>(0.95, 1.05)(random_);
    const bool late = std::uniform_int_distribution<int>(0, 3)(random_) == 0;
    return seconds * scale * (late ? std::uniform_real_distribution<double>(3, 10)(random_) : 1.0);
  }

 private:
  std::mt19937 random_{7};
};

template <typename Cost>
void Measure(CostFit& fit, Noise& noise, const Cost& cost, int rounds = 20) {
  for (int round = 0; round < rounds; ++round) {
    for (const std::uint64_t bytes : kSizes) fit.Add(bytes, noise.Wrong(cost(bytes)));
  }
}

void ExpectNeverDecreases(const CostModel& cost) {
  double before = 0.0;
  for (double bytes = 0; bytes < 1e10; bytes = bytes * 1.01 + 1) {
    const double now = cost.Seconds(static_cast<std::uint64_t>(bytes));
    ASSERT_GE(now, before * (1 - 1e-12)) << "at " << bytes;
    before = now;
  }
}

TEST(CostFitTest, KnowsThePriorBeforeAnythingIsMeasured) {
  const CostFit fit(kPrior);
  EXPECT_DOUBLE_EQ(fit.Fit().Seconds(0), 100e-6);
  EXPECT_DOUBLE_EQ(fit.Fit().Seconds(4'000'000), 1100e-6);
}

TEST(CostFitTest, OneSizeSetsTheHeightAndKeepsTheShape) {
  CostFit fit(kPrior);
  for (int i = 0; i < 10; ++i) fit.Add(4'000'000, 2200e-6);
  EXPECT_DOUBLE_EQ(fit.Fit().Seconds(0), 200e-6);
  EXPECT_DOUBLE_EQ(fit.Fit().Seconds(4'000'000), 2200e-6);
}

TEST(CostFitTest, FindsALineUnderNoiseAndOutliers) {
  CostFit fit(kPrior);
  Noise noise;
  const auto line = [](std::uint64_t bytes) { return 50e-6 + static_cast<double>(bytes) / 1e9; };
  Measure(fit, noise, line);
  EXPECT_LT(Distance(fit.Fit(), CostModel(50e-6, 1e-9), kSizes), 0.08);
  EXPECT_EQ(fit.Fit().pieces().size(), 1u);
  ExpectNeverDecreases(fit.Fit());
}

TEST(CostFitTest, FindsAJump) {
  CostFit fit(kPrior);
  Noise noise;
  const auto jump = [](std::uint64_t bytes) {
    return (bytes < 10'000 ? 20e-6 : 300e-6) + static_cast<double>(bytes) / 1e9;
  };
  for (int round = 0; round < 20; ++round) {
    for (std::uint64_t bytes = 64; bytes < (1u << 24); bytes *= 2) {
      fit.Add(bytes, noise.Wrong(jump(bytes)));
    }
  }
  const CostModel cost = fit.Fit();
  EXPECT_GE(cost.pieces().size(), 2u);
  for (const std::uint64_t bytes : {64, 1024, 8000, 17'000, 1 << 20, 1 << 23}) {
    EXPECT_NEAR(cost.Seconds(bytes) / jump(bytes), 1.0, 0.12) << bytes;
  }
  ExpectNeverDecreases(cost);
}

TEST(CostFitTest, FollowsAChangeOfRegime) {
  CostFit fit(kPrior);
  Noise noise;
  Measure(
      fit, noise, [](std::uint64_t b) { return 50e-6 + static_cast<double>(b) / 1e9; }, 200);
  // The network is four times as slow from now on.
  Measure(
      fit, noise, [](std::uint64_t b) { return 200e-6 + static_cast<double>(b) / 0.25e9; }, 40);
  EXPECT_LT(Distance(fit.Fit(), CostModel(200e-6, 4e-9), kSizes), 0.08);
}

TEST(CostFitTest, SizesNotSeenForLongAreForgotten) {
  CostFit fit(kPrior);
  for (int i = 0; i < 40; ++i) fit.Add(1 << 24, 1e-3);  // would be far below the line
  Noise noise;
  for (int i = 0; i < 2000; ++i) {
    for (const std::uint64_t bytes : {1000, 30'000, 1'000'000}) {
      fit.Add(bytes, noise.Wrong(50e-6 + static_cast<double>(bytes) / 1e9));
    }
  }
  EXPECT_GT(fit.Fit().Seconds(1 << 24), 10e-3);
}

TEST(CostFitTest, FarAboveWhatWasMeasuredNothingIsForFree) {
  CostFit fit(kPrior);
  for (int i = 0; i < 10; ++i) {
    fit.Add(8, 30e-6);
    fit.Add(64, 30e-6);
    fit.Add(1024, 30e-6);
  }
  EXPECT_DOUBLE_EQ(fit.Fit().Seconds(1024), 30e-6);
  EXPECT_NEAR(fit.Fit().Seconds(1'000'001'024), 0.25, 0.001);
  ExpectNeverDecreases(fit.Fit());
}

TEST(CostFitTest, TimesThatAreNoneAreIgnored) {
  CostFit fit(kPrior);
  fit.Add(100, 0.0);
  fit.Add(100, -1.0);
  fit.Add(100, std::nan(""));
  fit.Add(100, INFINITY);
  EXPECT_EQ(fit.samples(), 0u);
  EXPECT_DOUBLE_EQ(fit.Fit().Seconds(0), 100e-6);
}

TEST(CostFitTest, WhateverIsMeasuredNeverDecreases) {
  std::mt19937 random(11);
  for (int i = 0; i < 200; ++i) {
    CostFit fit(kPrior);
    const int sizes = std::uniform_int_distribution<int>(1, 12)(random);
    for (int s = 0; s < sizes; ++s) {
      const double bytes = std::exp2(std::uniform_real_distribution<double>(0, 30)(random));
      const double seconds = std::exp(std::uniform_real_distribution<double>(-12, 0)(random));
      for (int k = 0; k < 5; ++k) fit.Add(static_cast<std::uint64_t>(bytes), seconds);
    }
    ASSERT_NO_FATAL_FAILURE(ExpectNeverDecreases(fit.Fit())) << "case " << i;
  }
}

TEST(LineFitTest, AWildPointCountsNoMoreThanAnother) {
  const std::vector<Point> points = {{0, 1}, {10, 2}, {20, 300}, {30, 4}, {40, 5}};
  const Piece line = FitLine(points, 0.0);
  EXPECT_DOUBLE_EQ(line.latency, 1.0);
  EXPECT_DOUBLE_EQ(line.seconds_per_byte, 0.1);
}

TEST(CostFitTest, DistanceIsTheLargestRatio) {
  EXPECT_DOUBLE_EQ(Distance({1.0, 0.0}, {2.0, 0.0}, {5}), 1.0);
  EXPECT_DOUBLE_EQ(Distance({2.0, 0.0}, {1.0, 0.0}, {5}), 1.0);
  EXPECT_DOUBLE_EQ(Distance({2.0, 1.0}, {2.0, 1.0}, {5, 7}), 0.0);
  EXPECT_DOUBLE_EQ(Distance({2.0, 1.0}, {3.0, 1.0}, {}), 0.0);
}

TEST(CostFitTest, DescribesItsPieces) {
  EXPECT_EQ(Describe({12.1e-6, 1.0 / 4e9}), "12.1 us + 4 GB/s");
  EXPECT_EQ(Describe(CostModel::Of({{0, 1e-6, 0.0}, {100, 2e-6, 1e-9}})),
            "1.0 us; from 100 bytes 2.0 us + 1 GB/s");
}

}  // namespace
}  // namespace horovodx::schedule

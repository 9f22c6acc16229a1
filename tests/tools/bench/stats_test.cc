#include "tools/bench/stats.h"

#include <gtest/gtest.h>

namespace horovodx::bench {
namespace {

TEST(StatsTest, PercentilesAreValuesThatOccurred) {
  EXPECT_EQ(Percentile({}, 0.5), 0);
  EXPECT_EQ(Median({3}), 3);
  EXPECT_EQ(Median({9, 1, 5}), 5);
  EXPECT_EQ(Median({4, 1, 3, 2}), 2);
  EXPECT_EQ(Percentile({10, 20, 30, 40, 50, 60, 70, 80, 90, 100}, 0.9), 90);
  EXPECT_EQ(Percentile({1, 2}, 0), 1);
  EXPECT_EQ(Percentile({1, 2}, 1), 2);
}

TEST(StatsTest, BarsAreSetForTwoAndFourRanksBySize) {
  constexpr std::size_t kKiB = 1024;
  constexpr std::size_t kMiB = 1024 * kKiB;
  struct Case {
    std::size_t bytes;
    std::optional<double> two;
    std::optional<double> four;
  };
  const Case cases[] = {
      {4, 4.0, 2.0},           {4 * kKiB, 4.0, 2.0},     {8 * kKiB, std::nullopt, std::nullopt},
      {16 * kKiB, 1.5, 1.0},   {256 * kKiB, 1.5, 1.0},   {512 * kKiB, std::nullopt, std::nullopt},
      {kMiB, 0.7, 0.7},        {8 * kMiB, 0.7, 0.7},     {16 * kMiB, std::nullopt, std::nullopt},
      {64 * kMiB, 0.35, 0.35}, {256 * kMiB, 0.35, 0.35},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Bar(2, c.bytes), c.two) << c.bytes;
    EXPECT_EQ(Bar(4, c.bytes), c.four) << c.bytes;
    EXPECT_EQ(Bar(3, c.bytes), std::nullopt);
  }
}

TEST(StatsTest, BandwidthsAreThoseOfNcclTests) {
  EXPECT_DOUBLE_EQ(AlgorithmBandwidth(1000, 0.5), 2000);
  EXPECT_DOUBLE_EQ(BusBandwidth(1000, 0.5, 2), 2000);
  EXPECT_DOUBLE_EQ(BusBandwidth(1000, 0.5, 4), 3000);
  EXPECT_EQ(AlgorithmBandwidth(1000, 0), 0);
}

TEST(StatsTest, SizesAndTimesReadWell) {
  EXPECT_EQ(SizeText(4), "4 B");
  EXPECT_EQ(SizeText(65536), "64 KiB");
  EXPECT_EQ(SizeText(1025), "1025 B");
  EXPECT_EQ(SizeText(std::size_t{256} << 20), "256 MiB");
  EXPECT_EQ(TimeText(1.26e-5), "12.6 us");
  EXPECT_EQ(TimeText(0.0123), "12.30 ms");
  EXPECT_EQ(TimeText(2.5), "2.50 s");
}

TEST(StatsTest, MemoryMayGrowBySixteenMebibytesAndNotMore) {
  EXPECT_FALSE(GrowthIsOverBar(0));
  EXPECT_FALSE(GrowthIsOverBar(16 << 20));
  EXPECT_TRUE(GrowthIsOverBar((16 << 20) + 4096));
}

}  // namespace
}  // namespace horovodx::bench

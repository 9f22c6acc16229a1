#include "tools/bench/pattern.h"

#include <gtest/gtest.h>

#include <cstring>

namespace horovodx::bench {
namespace {

std::vector<float> FloatsOf(Pattern& pattern, std::size_t n, int rank, std::size_t iteration) {
  std::vector<float> data(n);
  pattern.Fill(data.data(), n * 4, rank, iteration);
  return data;
}

TEST(PatternTest, TheSumOfAllRanksIsRightAndAnythingElseIsFound) {
  constexpr std::size_t kCount = 20000;  // more than two periods
  Pattern pattern("float32", 3);
  std::vector<float> sum(kCount, 0);
  for (int rank = 0; rank < 3; ++rank) {
    const auto term = FloatsOf(pattern, kCount, rank, 5);
    for (std::size_t i = 0; i < kCount; ++i) sum[i] += term[i];
  }
  EXPECT_FALSE(pattern.FindWrong(sum.data(), kCount * 4, 5, true));
  EXPECT_FALSE(pattern.FindWrong(sum.data(), kCount * 4, 5, false));
  EXPECT_TRUE(pattern.FindWrong(sum.data(), kCount * 4, 6, false)) << "an old result passed";
  sum[12345] += 1;
  const auto wrong = pattern.FindWrong(sum.data(), kCount * 4, 5, true);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(*wrong / 4, 12345u);
  sum[12345] -= 1;
  sum.back() += 1;
  EXPECT_TRUE(pattern.FindWrong(sum.data(), kCount * 4, 5, false))
      << "the last is always looked at";
}

TEST(PatternTest, DataDependsOnRankAndIterationAndSize) {
  Pattern pattern("float32", 2);
  const auto first = FloatsOf(pattern, 100, 0, 0);
  EXPECT_NE(first, FloatsOf(pattern, 100, 1, 0));
  EXPECT_NE(first, FloatsOf(pattern, 100, 0, 1));
  auto longer = FloatsOf(pattern, 200, 0, 0);
  longer.resize(100);
  EXPECT_NE(first, longer);
}

TEST(PatternTest, HalfPrecisionNumbersAreTheWholeNumbersTheyStandFor) {
  // One rank: the sum is what was filled in.
  for (const std::string type : {"float16", "bfloat16"}) {
    Pattern half(type, 1);
    Pattern whole("int32", 1);
    std::vector<std::uint16_t> bits(500);
    std::vector<std::int32_t> numbers(500);
    // The start depends on the bytes, so give both the same number of them, and compare the
    // overlap.
    half.Fill(bits.data(), 1000, 0, 3);
    whole.Fill(numbers.data(), 1000, 0, 3);
    const std::uint16_t float16_of[] = {0, 0x3C00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600};
    const std::uint16_t bfloat16_of[] = {0, 0x3F80, 0x4000, 0x4040, 0x4080, 0x40A0, 0x40C0};
    for (std::size_t i = 0; i < 250; ++i) {
      const auto* expected = type == "float16" ? float16_of : bfloat16_of;
      ASSERT_EQ(bits[i], expected[numbers[i]]) << type << " at " << i;
    }
  }
}

TEST(PatternTest, EveryTypeSumsOverTheMostRanksWithoutRounding) {
  for (const auto& type : Pattern::Types()) {
    Pattern pattern(type, Pattern::MostRanks());
    std::vector<std::byte> zero(pattern.element_size() * 100);
    EXPECT_TRUE(pattern.FindWrong(zero.data(), zero.size(), 0, true)) << type;
  }
}

}  // namespace
}  // namespace horovodx::bench

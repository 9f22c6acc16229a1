#include "kernels/cpu/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <random>

namespace horovodx::kernels::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The value of a 16-bit float by the book: `fraction_bits` of fraction, exponent biased by `bias`.
double ByTheBook(unsigned bits, int fraction_bits, int bias) {
  const int exponent = static_cast<int>((bits & 0x7fffu) >> fraction_bits);
  const int all_ones = (1 << (15 - fraction_bits)) - 1;
  const int fraction = static_cast<int>(bits & ((1u << fraction_bits) - 1));
  double value = 0;
  if (exponent == all_ones) {
    value = fraction != 0 ? std::nan("") : std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    value = std::ldexp(fraction, 1 - bias - fraction_bits);
  } else {
    value = std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
  }
  return (bits & 0x8000u) != 0 ? -value : value;
}

TEST(HalfTest, DecodesEveryFloat16) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const double expected = ByTheBook(bits, 10, 15);
    const float actual = FloatFromFloat16(static_cast<std::uint16_t>(bits));
    ASSERT_TRUE(actual == expected || (std::isnan(actual) && std::isnan(expected))) << bits;
    ASSERT_EQ(std::signbit(actual), (bits & 0x8000u) != 0) << bits;
  }
}

TEST(HalfTest, DecodesEveryBfloat16) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const double expected = ByTheBook(bits, 7, 127);
    const float actual = FloatFromBfloat16(static_cast<std::uint16_t>(bits));
    ASSERT_TRUE(actual == expected || (std::isnan(actual) && std::isnan(expected))) << bits;
  }
}

TEST(HalfTest, RoundTripKeepsEveryNumberAndMakesNanQuiet) {
  for (unsigned i = 0; i < 0x10000; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const bool nan16 = (bits & 0x7fff) > 0x7c00;
    ASSERT_EQ(Float16FromFloat(FloatFromFloat16(bits)), nan16 ? bits | 0x200 : bits);
    const bool nanb = (bits & 0x7fff) > 0x7f80;
    ASSERT_EQ(Bfloat16FromFloat(FloatFromBfloat16(bits)), nanb ? bits | 0x40 : bits);
  }
}

// The nearest of all finite values and, beyond half a step past the greatest, infinity; ties to
// even. Found by going through neighbours in double, where all differences are exact.
template <class Encode, class Decode>
void ExpectNearestEven(float value, Encode encode, Decode decode, unsigned greatest) {
  const float magnitude = std::fabs(value);
  unsigned below = 0;
  unsigned above = greatest + 1;
  while (above - below > 1) {
    const unsigned middle = (below + above) / 2;
    (decode(static_cast<std::uint16_t>(middle)) <= magnitude ? below : above) = middle;
  }
  const double low = decode(static_cast<std::uint16_t>(below));
  const double high = below == greatest ? 2 * low - decode(static_cast<std::uint16_t>(below - 1))
                                        : decode(static_cast<std::uint16_t>(below + 1));
  const double to_low = magnitude - low;
  const double to_high = high - magnitude;
  const bool up = to_high < to_low || (to_high == to_low && (below & 1) != 0);
  const unsigned expected = (below + (up ? 1 : 0)) | (std::signbit(value) ? 0x8000u : 0u);
  ASSERT_EQ(encode(value), expected) << value;
}

TEST(HalfTest, RoundsToNearestEven) {
  std::mt19937 random(1);
  for (int i = 0; i < 200000; ++i) {
    std::uint32_t bits = random();
    // Half of them close to where float16 lives, half of those right at a tie or beside it.
    if (i % 2 == 0) bits = (bits & 0x807fffffu) | ((100u + random() % 46u) << 23);
    if (i % 4 == 0) bits = (bits & 0xffffe000u) + 0x0fffu + random() % 3;
    if (i % 4 == 1) bits = (bits & 0xffff0000u) + 0x7fffu + random() % 3;
    const float value = std::bit_cast<float>(bits);
    if (std::isnan(value) || std::isinf(value)) continue;
    ASSERT_NO_FATAL_FAILURE(ExpectNearestEven(value, Float16FromFloat, FloatFromFloat16, 0x7bff));
    ASSERT_NO_FATAL_FAILURE(ExpectNearestEven(value, Bfloat16FromFloat, FloatFromBfloat16, 0x7f7f));
  }
}

TEST(HalfTest, KeepsInfinityAndOverflowsToIt) {
  EXPECT_EQ(Float16FromFloat(kInfinity), 0x7c00);
  EXPECT_EQ(Float16FromFloat(-kInfinity), 0xfc00);
  EXPECT_EQ(Float16FromFloat(65519.996f), 0x7bff);
  EXPECT_EQ(Float16FromFloat(65520.0f), 0x7c00);
  EXPECT_EQ(Bfloat16FromFloat(kInfinity), 0x7f80);
  EXPECT_EQ(Bfloat16FromFloat(std::numeric_limits<float>::max()), 0x7f80);
}

TEST(HalfTest, NanWithAllPayloadBitsStaysNan) {
  for (const std::uint32_t bits : {0x7fffffffu, 0xffffffffu, 0x7f800001u, 0xff800001u}) {
    const float nan = std::bit_cast<float>(bits);
    EXPECT_TRUE(std::isnan(FloatFromBfloat16(Bfloat16FromFloat(nan)))) << bits;
    EXPECT_TRUE(std::isnan(FloatFromFloat16(Float16FromFloat(nan)))) << bits;
  }
}

TEST(HalfTest, RoundToOddKeepsWhatFloatHoldsAndMarksWhatItDoesNot) {
  EXPECT_EQ(RoundToOdd(1.5), 1.5f);
  EXPECT_EQ(RoundToOdd(std::numeric_limits<double>::infinity()), kInfinity);
  EXPECT_TRUE(std::isnan(RoundToOdd(std::nan(""))));
  EXPECT_EQ(RoundToOdd(1 + 0x1p-40), 1 + 0x1p-23f);
  EXPECT_EQ(RoundToOdd(-1 - 0x1p-40), -1 - 0x1p-23f);
  EXPECT_EQ(RoundToOdd(1 - 0x1p-40), 1 - 0x1p-24f);
  EXPECT_EQ(RoundToOdd(1e300), std::numeric_limits<float>::max());
  EXPECT_EQ(RoundToOdd(-1e-300), -std::numeric_limits<float>::denorm_min());
}

}  // namespace
}  // namespace horovodx::kernels::cpu

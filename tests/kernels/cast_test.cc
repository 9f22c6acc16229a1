#include "kernels/cast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/cpu/half.h"
#include "tests/kernels/values.h"

namespace horovodx::kernels {
namespace {

using ::testing::ElementsAre;

class CastTest : public LevelTest {};

template <class To, class From>
std::vector<To> Converted(ElementType to_type, ElementType from_type, const std::vector<From>& from,
                          double factor = 1.0) {
  std::vector<To> to(from.size());
  Cast(to_type, to.data(), from_type, from.data(), from.size(), factor);
  return to;
}

TEST_P(CastTest, FloatToIntegerTruncatesSaturatesAndDropsNan) {
  const float nan = std::nanf("");
  EXPECT_THAT((Converted<std::int8_t, float>(ElementType::kInt8, ElementType::kFloat32,
                                             {1.9f, -1.9f, 300, -300, nan})),
              ElementsAre(1, -1, 127, -128, 0));
  EXPECT_THAT((Converted<std::uint16_t, double>(ElementType::kUint16, ElementType::kFloat64,
                                                {65535.9, 65536, -0.5, -1})),
              ElementsAre(65535, 65535, 0, 0));
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(
      (Converted<std::int64_t, double>(ElementType::kInt64, ElementType::kFloat64,
                                       {0x1p63, -0x1p63, -0x1p64, 0x1p62, 0x1.fffffp62})),
      ElementsAre(kMax, -kMax - 1, -kMax - 1, 1LL << 62, static_cast<std::int64_t>(0x1.fffffp62)));
}

TEST_P(CastTest, IntegerToSmallerIntegerSaturates) {
  EXPECT_THAT((Converted<std::int8_t, std::int32_t>(ElementType::kInt8, ElementType::kInt32,
                                                    {5, 200, -200})),
              ElementsAre(5, 127, -128));
  EXPECT_THAT((Converted<std::uint8_t, std::int64_t>(ElementType::kUint8, ElementType::kInt64,
                                                     {255, 1LL << 40, -1})),
              ElementsAre(255, 255, 0));
}

TEST_P(CastTest, ToBoolIsNotZero) {
  const float nan = std::nanf("");
  EXPECT_THAT((Converted<std::uint8_t, float>(ElementType::kBool, ElementType::kFloat32,
                                              {0.0f, -0.0f, 0.25f, nan, 1e-45f})),
              ElementsAre(0, 0, 1, 1, 1));
}

TEST_P(CastTest, FromBoolIsZeroOrOne) {
  EXPECT_THAT(
      (Converted<float, std::uint8_t>(ElementType::kFloat32, ElementType::kBool, {0, 1, 255}, 3.0)),
      ElementsAre(0, 3, 3));
}

TEST_P(CastTest, DoubleToSixteenBitsRoundsOnce) {
  // Just above a tie: rounding to float first would drop what breaks it.
  const double above = 1 + 0x1p-11 + 0x1p-40;
  EXPECT_THAT((Converted<std::uint16_t, double>(ElementType::kFloat16, ElementType::kFloat64,
                                                {above, -above, 1 + 0x1p-11, 1 - 0x1p-12 - 1e-12})),
              ElementsAre(0x3c01, 0xbc01, 0x3c00, 0x3bff));
  const double above_b = 1 + 0x1p-8 + 0x1p-40;
  EXPECT_THAT((Converted<std::uint16_t, double>(ElementType::kBfloat16, ElementType::kFloat64,
                                                {above_b, 1 + 0x1p-8, 1e300, -1e-300})),
              ElementsAre(0x3f81, 0x3f80, 0x7f80, 0x8000));
}

TEST_P(CastTest, FactorAppliesBeforeTheConversion) {
  EXPECT_THAT((Converted<std::uint16_t, float>(ElementType::kFloat16, ElementType::kFloat32,
                                               {1e6f, 3.0f}, 0.01)),
              ElementsAre(cpu::Float16FromFloat(1e6f * 0.01f), cpu::Float16FromFloat(0.03f)));
  EXPECT_THAT((Converted<std::int32_t, float>(ElementType::kInt32, ElementType::kFloat32,
                                              {2.5f, -2.5f}, 3.0)),
              ElementsAre(7, -7));
}

TEST_P(CastTest, WideningIsExact) {
  EXPECT_THAT((Converted<double, float>(ElementType::kFloat64, ElementType::kFloat32,
                                        {0.1f, 1e-45f, -3.0f})),
              ElementsAre(0.1f, 1e-45f, -3.0f));
  EXPECT_THAT((Converted<double, std::int64_t>(ElementType::kFloat64, ElementType::kInt64,
                                               {(1LL << 53) - 1, -7})),
              ElementsAre(9007199254740991.0, -7.0));
}

HVDX_TEST_ALL_LEVELS(CastTest);

}  // namespace
}  // namespace horovodx::kernels

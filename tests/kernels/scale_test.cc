#include "kernels/scale.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/cpu/half.h"
#include "tests/kernels/values.h"

namespace horovodx::kernels {
namespace {

using ::testing::ElementsAre;

class ScaleTest : public LevelTest {};

template <class T>
std::vector<T> Scaled(ElementType type, const std::vector<T>& from, double factor) {
  std::vector<T> to(from.size());
  Scale(type, to.data(), from.data(), from.size(), factor);
  return to;
}

TEST_P(ScaleTest, FloatsMultiplyByTheFactorAsFloat) {
  const std::vector<float> from = {3.0f, -7.0f, 1e-40f};
  const float third = static_cast<float>(1.0 / 3);
  EXPECT_THAT(Scaled(ElementType::kFloat32, from, 1.0 / 3),
              ElementsAre(3.0f * third, -7.0f * third, 1e-40f * third));
}

TEST_P(ScaleTest, DoublesMultiplyInDouble) {
  EXPECT_THAT(Scaled<double>(ElementType::kFloat64, {3.0, -7.0}, 1.0 / 3),
              ElementsAre(3.0 * (1.0 / 3), -7.0 * (1.0 / 3)));
}

TEST_P(ScaleTest, SixteenBitFloatsMultiplyInFloat) {
  const std::uint16_t five = cpu::Float16FromFloat(5);
  EXPECT_THAT(Scaled<std::uint16_t>(ElementType::kFloat16, {five}, 0.1),
              ElementsAre(cpu::Float16FromFloat(5 * 0.1f)));
  const std::uint16_t seven = cpu::Bfloat16FromFloat(7);
  EXPECT_THAT(Scaled<std::uint16_t>(ElementType::kBfloat16, {seven}, 0.1),
              ElementsAre(cpu::Bfloat16FromFloat(7 * 0.1f)));
}

TEST_P(ScaleTest, IntegersTruncateTowardZero) {
  EXPECT_THAT(Scaled<std::int32_t>(ElementType::kInt32, {3, 5, -3, -5}, 0.5),
              ElementsAre(1, 2, -1, -2));
  EXPECT_THAT(Scaled<std::int8_t>(ElementType::kInt8, {127, -127}, 0.99), ElementsAre(125, -125));
  EXPECT_THAT(Scaled<std::uint16_t>(ElementType::kUint16, {65535}, 0.5), ElementsAre(32767));
  EXPECT_THAT(Scaled<std::int64_t>(ElementType::kInt64, {1LL << 60}, 0.25), ElementsAre(1LL << 58));
}

TEST_P(ScaleTest, IntegersSaturate) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(Scaled<std::int8_t>(ElementType::kInt8, {100, -100, 0}, 1e30),
              ElementsAre(127, -128, 0));
  EXPECT_THAT(Scaled<std::uint8_t>(ElementType::kUint8, {100, 1}, -1.0), ElementsAre(0, 0));
  EXPECT_THAT(Scaled<std::uint8_t>(ElementType::kUint8, {100}, kNan), ElementsAre(0));
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(Scaled<std::int64_t>(ElementType::kInt64, {kMax, -kMax, kMax - 5}, 2.0),
              ElementsAre(kMax, -kMax - 1, kMax));
  EXPECT_THAT(Scaled<std::int64_t>(ElementType::kInt64, {kMax, 7}, kNan), ElementsAre(0, 0));
  constexpr std::int32_t kMax32 = std::numeric_limits<std::int32_t>::max();
  EXPECT_THAT(Scaled<std::int32_t>(ElementType::kInt32, {kMax32, -kMax32}, 3.0),
              ElementsAre(kMax32, -kMax32 - 1));
}

TEST_P(ScaleTest, BoolIsWhetherTheProductIsNotZero) {
  EXPECT_THAT(Scaled<std::uint8_t>(ElementType::kBool, {0, 1, 2}, 0.5), ElementsAre(0, 1, 1));
  EXPECT_THAT(Scaled<std::uint8_t>(ElementType::kBool, {0, 1, 2}, 0.0), ElementsAre(0, 0, 0));
}

TEST_P(ScaleTest, FactorOneCopiesEveryBit) {
  for (const ElementType type : kAllTypes) {
    const Elements from = SomeElements(type, 100, 1);
    Elements to(type, 100);
    Scale(type, to.data(), from.data(), 100, 1.0);
    for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(to.Bits(i), from.Bits(i)) << NameOf(type);
  }
}

TEST_P(ScaleTest, InPlaceEqualsElsewhere) {
  for (const ElementType type : kAllTypes) {
    for (const std::size_t count : {1, 7, 100, 1001}) {
      Elements in_place = SomeElements(type, count, 2);
      Elements to(type, count);
      Scale(type, to.data(), in_place.data(), count, 0.3);
      Scale(type, in_place.data(), in_place.data(), count, 0.3);
      EXPECT_TRUE(Same(to, in_place));
    }
  }
}

HVDX_TEST_ALL_LEVELS(ScaleTest);

}  // namespace
}  // namespace horovodx::kernels

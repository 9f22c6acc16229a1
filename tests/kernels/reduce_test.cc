#include "kernels/reduce.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/cast.h"
#include "kernels/cpu/half.h"
#include "tests/kernels/values.h"

namespace horovodx::kernels {
namespace {

using ::testing::ElementsAre;

class ReduceTest : public LevelTest {};

// op of the inputs, times factor.
template <class T>
std::vector<T> Many(ElementType type, ReduceOp op, const std::vector<std::vector<T>>& inputs,
                    double factor = 1.0) {
  std::vector<const void*> in;
  for (const std::vector<T>& input : inputs) in.push_back(input.data());
  std::vector<T> to(inputs[0].size());
  ReduceMany(type, op, to.data(), in.data(), static_cast<int>(in.size()), to.size(), factor);
  return to;
}

template <class T>
std::vector<T> Many(ElementType type, ReduceOp op, std::initializer_list<std::vector<T>> inputs,
                    double factor = 1.0) {
  return Many(type, op, std::vector<std::vector<T>>(inputs), factor);
}

std::vector<std::uint16_t> Halves(const std::vector<float>& values) {
  std::vector<std::uint16_t> halves;
  for (const float value : values) halves.push_back(cpu::Float16FromFloat(value));
  return halves;
}

std::vector<std::uint16_t> Bfloats(const std::vector<float>& values) {
  std::vector<std::uint16_t> halves;
  for (const float value : values) halves.push_back(cpu::Bfloat16FromFloat(value));
  return halves;
}

TEST_P(ReduceTest, ReducesInPlace) {
  std::vector<float> into = {1, 2, 3};
  const std::vector<float> from = {10, -20, 30};
  Reduce(ElementType::kFloat32, ReduceOp::kSum, into.data(), from.data(), 3);
  EXPECT_THAT(into, ElementsAre(11, -18, 33));
  Reduce(ElementType::kFloat32, ReduceOp::kMin, into.data(), from.data(), 3);
  EXPECT_THAT(into, ElementsAre(10, -20, 30));
  Reduce(ElementType::kFloat32, ReduceOp::kProduct, into.data(), from.data(), 2);
  EXPECT_THAT(into, ElementsAre(100, 400, 30));
}

TEST_P(ReduceTest, EveryTypeKnowsEveryOperation) {
  const std::vector<double> a = {3, 5, 7, 2};
  const std::vector<double> b = {4, 2, 7, 1};
  const std::pair<ReduceOp, std::vector<double>> cases[] = {
      {ReduceOp::kSum, {7, 7, 14, 3}},
      {ReduceOp::kProduct, {12, 10, 49, 2}},
      {ReduceOp::kMin, {3, 2, 7, 1}},
      {ReduceOp::kMax, {4, 5, 7, 2}},
  };
  for (const ElementType type : kAllTypes) {
    if (type == ElementType::kBool) continue;
    Elements x(type, 4);
    Elements y(type, 4);
    Cast(type, y.data(), ElementType::kFloat64, b.data(), 4);
    for (const auto& [op, expected] : cases) {
      Cast(type, x.data(), ElementType::kFloat64, a.data(), 4);
      Reduce(type, op, x.data(), y.data(), 4);
      std::vector<double> actual(4);
      Cast(ElementType::kFloat64, actual.data(), type, x.data(), 4);
      EXPECT_EQ(actual, expected) << NameOf(op) << " of " << NameOf(type);
    }
  }
}

TEST_P(ReduceTest, IntegersWrapAround) {
  using V8 = std::vector<std::int8_t>;
  EXPECT_THAT(Many(ElementType::kInt8, ReduceOp::kSum, {V8{100, -100}, V8{100, -100}}),
              ElementsAre(-56, 56));
  EXPECT_THAT(Many(ElementType::kInt8, ReduceOp::kProduct, {V8{100, -128}, V8{100, -128}}),
              ElementsAre(16, 0));
  using U8 = std::vector<std::uint8_t>;
  EXPECT_THAT(Many(ElementType::kUint8, ReduceOp::kSum, {U8{200}, U8{100}}), ElementsAre(44));
  using U16 = std::vector<std::uint16_t>;
  EXPECT_THAT(Many(ElementType::kUint16, ReduceOp::kProduct, {U16{65535}, U16{65535}}),
              ElementsAre(1));
  constexpr std::int32_t kMax32 = std::numeric_limits<std::int32_t>::max();
  using V32 = std::vector<std::int32_t>;
  EXPECT_THAT(Many(ElementType::kInt32, ReduceOp::kSum, {V32{kMax32}, V32{1}}),
              ElementsAre(-kMax32 - 1));
  constexpr std::int64_t kMax64 = std::numeric_limits<std::int64_t>::max();
  using V64 = std::vector<std::int64_t>;
  EXPECT_THAT(Many(ElementType::kInt64, ReduceOp::kSum, {V64{kMax64}, V64{1}}),
              ElementsAre(-kMax64 - 1));
  EXPECT_THAT(Many(ElementType::kInt64, ReduceOp::kProduct, {V64{kMax64}, V64{3}}),
              ElementsAre(kMax64 - 2));
}

TEST_P(ReduceTest, ComparesBySign) {
  using V16 = std::vector<std::int16_t>;
  EXPECT_THAT(Many(ElementType::kInt16, ReduceOp::kMax, {V16{-1}, V16{1}}), ElementsAre(1));
  EXPECT_THAT(Many(ElementType::kInt16, ReduceOp::kMin, {V16{-1}, V16{1}}), ElementsAre(-1));
  using U16 = std::vector<std::uint16_t>;
  EXPECT_THAT(Many(ElementType::kUint16, ReduceOp::kMax, {U16{65535}, U16{1}}), ElementsAre(65535));
  EXPECT_THAT(Many(ElementType::kUint16, ReduceOp::kMin, {U16{65535}, U16{1}}), ElementsAre(1));
}

TEST_P(ReduceTest, CombinesInTheOrderOfInputs) {
  using V = std::vector<float>;
  EXPECT_THAT(Many(ElementType::kFloat32, ReduceOp::kSum, {V{1e8f}, V{-1e8f}, V{1}}),
              ElementsAre(1));
  EXPECT_THAT(Many(ElementType::kFloat32, ReduceOp::kSum, {V{1}, V{1e8f}, V{-1e8f}}),
              ElementsAre(0));
}

TEST_P(ReduceTest, SixteenBitFloatsRoundOncePerCall) {
  // One by one, 2048 + 1 would round back to 2048 each time.
  EXPECT_EQ(Many(ElementType::kFloat16, ReduceOp::kSum, {Halves({2048}), Halves({1}), Halves({1})}),
            Halves({2050}));
  EXPECT_EQ(
      Many(ElementType::kBfloat16, ReduceOp::kSum, {Bfloats({256}), Bfloats({1}), Bfloats({1})}),
      Bfloats({258}));
  std::vector<std::vector<std::uint16_t>> sixteen(16, Halves({1}));
  sixteen[0] = Halves({4096});
  EXPECT_EQ(Many(ElementType::kFloat16, ReduceOp::kSum, sixteen), Halves({4112}));
}

TEST_P(ReduceTest, MoreThanSixteenInputsRoundOncePerStep) {
  // 2048 + 1 is a tie that goes back to 2048, after the first sixteen and again after the last.
  std::vector<std::vector<std::uint16_t>> inputs(17, Halves({0}));
  inputs[0] = Halves({2048});
  inputs[15] = Halves({1});
  inputs[16] = Halves({1});
  EXPECT_EQ(Many(ElementType::kFloat16, ReduceOp::kSum, inputs), Halves({2048}));
  const std::vector<std::vector<float>> many(100, std::vector<float>{1, 2});
  EXPECT_THAT(Many(ElementType::kFloat32, ReduceOp::kSum, many, 0.5), ElementsAre(50, 100));
}

TEST_P(ReduceTest, FactorComesBeforeTheRounding) {
  EXPECT_EQ(Many(ElementType::kFloat16, ReduceOp::kSum, {Halves({65504}), Halves({65504})}, 0.5),
            Halves({65504}));
}

TEST_P(ReduceTest, MinAndMaxPropagateNanFromAnyInput) {
  const float nan = std::nanf("");
  for (const ReduceOp op : {ReduceOp::kMin, ReduceOp::kMax}) {
    for (std::size_t at = 0; at < 3; ++at) {
      std::vector<std::vector<float>> inputs(3, std::vector<float>(40, 1.0f));
      inputs[at].assign(40, nan);
      for (const float x : Many(ElementType::kFloat32, op, inputs)) EXPECT_TRUE(std::isnan(x));
      std::vector<std::vector<std::uint16_t>> halves(3, Halves(std::vector<float>(40, 1.0f)));
      halves[at] = Halves(std::vector<float>(40, nan));
      for (const std::uint16_t x : Many(ElementType::kFloat16, op, halves)) {
        EXPECT_TRUE(std::isnan(cpu::FloatFromFloat16(x)));
      }
    }
  }
}

TEST_P(ReduceTest, BoolIsOrAndAnd) {
  using V = std::vector<std::uint8_t>;
  const V a = {0, 0, 1, 2};
  const V b = {0, 2, 0, 1};
  for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMax}) {
    EXPECT_THAT(Many(ElementType::kBool, op, {a, b}), ElementsAre(0, 1, 1, 1));
  }
  for (const ReduceOp op : {ReduceOp::kProduct, ReduceOp::kMin}) {
    EXPECT_THAT(Many(ElementType::kBool, op, {a, b}), ElementsAre(0, 0, 0, 1));
  }
}

TEST_P(ReduceTest, AverageOfIntegersTruncatesTowardZero) {
  using V = std::vector<std::int32_t>;
  EXPECT_THAT(Many(ElementType::kInt32, ReduceOp::kSum, {V{1, 2}, V{2, 3}}, 0.5),
              ElementsAre(1, 2));
  EXPECT_THAT(Many(ElementType::kInt32, ReduceOp::kSum, {V{-1}, V{-2}}, 0.5), ElementsAre(-1));
}

TEST_P(ReduceTest, AverageOfIntegersIsTheTruncatedProductWithTheReciprocal) {
  for (int n = 2; n <= 20; ++n) {
    std::vector<std::vector<std::int64_t>> inputs(static_cast<std::size_t>(n));
    std::vector<std::int64_t> expected;
    for (std::int64_t x = -300; x <= 300; ++x) {
      std::int64_t sum = 0;
      for (int k = 0; k < n; ++k) {
        inputs[static_cast<std::size_t>(k)].push_back(x * k - k % 3);
        sum += x * k - k % 3;
      }
      expected.push_back(static_cast<std::int64_t>(static_cast<double>(sum) * (1.0 / n)));
    }
    EXPECT_EQ(Many(ElementType::kInt64, ReduceOp::kSum, inputs, 1.0 / n), expected) << n;
  }
}

TEST_P(ReduceTest, OneInputIsScaledOrCopied) {
  using V = std::vector<float>;
  EXPECT_THAT(Many(ElementType::kFloat32, ReduceOp::kSum, {V{1, 2, 3}}), ElementsAre(1, 2, 3));
  EXPECT_THAT(Many(ElementType::kFloat32, ReduceOp::kMin, {V{1, 2, 3}}, 2.0), ElementsAre(2, 4, 6));
}

TEST_P(ReduceTest, InputsMayRepeatAndBeTheResult) {
  std::vector<std::int32_t> x(100, 3);
  const void* inputs[] = {x.data(), x.data(), x.data()};
  ReduceMany(ElementType::kInt32, ReduceOp::kSum, x.data(), inputs, 3, x.size(), 0.5);
  EXPECT_EQ(x, std::vector<std::int32_t>(100, 4));
}

TEST_P(ReduceTest, AnyInputMayBeTheResult) {
  constexpr std::size_t kCount = 1100;
  for (const ElementType type : kAllTypes) {
    for (const int n : {1, 2, 3, 16, 17, 20}) {
      for (int alias = 0; alias < n; ++alias) {
        std::vector<Elements> inputs;
        std::vector<const void*> in;
        for (int k = 0; k < n; ++k) {
          inputs.push_back(SomeElements(type, kCount, static_cast<unsigned>(k)));
        }
        for (const Elements& input : inputs) in.push_back(input.data());
        Elements elsewhere(type, kCount);
        ReduceMany(type, ReduceOp::kSum, elsewhere.data(), in.data(), n, kCount, 0.5);
        Elements& result = inputs[static_cast<std::size_t>(alias)];
        ReduceMany(type, ReduceOp::kSum, result.data(), in.data(), n, kCount, 0.5);
        ASSERT_TRUE(Same(elsewhere, result)) << "input " << alias << " of " << n;
      }
    }
  }
}

TEST_P(ReduceTest, NothingIsTouchedWhenCountIsZero) {
  const void* inputs[] = {nullptr, nullptr};
  ReduceMany(ElementType::kFloat16, ReduceOp::kSum, nullptr, inputs, 2, 0, 0.5);
  ReduceMany(ElementType::kInt8, ReduceOp::kSum, nullptr, inputs, 1, 0);
  Reduce(ElementType::kFloat64, ReduceOp::kMax, nullptr, nullptr, 0);
}

HVDX_TEST_ALL_LEVELS(ReduceTest);

}  // namespace
}  // namespace horovodx::kernels

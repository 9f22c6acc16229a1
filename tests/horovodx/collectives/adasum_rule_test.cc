#include "horovodx/collectives/adasum_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace horovodx::collectives {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

std::vector<double> Adasum(const std::vector<double>& a, const std::vector<double>& b) {
  AdasumSums sums;
  AddAdasumSums(ElementType::kFloat64, a.data(), b.data(), a.size(), sums);
  std::vector<double> to(a.size());
  CombineAdasum(ElementType::kFloat64, AdasumFactorsOf(sums), a.data(), b.data(), to.data(),
                a.size());
  return to;
}

TEST(AdasumRuleTest, OrthogonalVectorsAreAddedEqualOnesAveraged) {
  EXPECT_THAT(Adasum({2, 0}, {0, 3}), ElementsAre(2, 3));
  EXPECT_THAT(Adasum({2, 4}, {2, 4}), ElementsAre(2, 4));
  EXPECT_THAT(Adasum({1, 1}, {1, 0}), ElementsAre(1.25, 0.75));
}

TEST(AdasumRuleTest, ZeroVectorChangesNothing) {
  EXPECT_THAT(Adasum({3, 4}, {0, 0}), ElementsAre(3, 4));
  EXPECT_THAT(Adasum({0, 0}, {3, 4}), ElementsAre(3, 4));
}

TEST(AdasumRuleTest, VectorsWithoutASquareKeepTheFactorOne) {
  const AdasumFactors factors = AdasumFactorsOf({1.0, 1e-160, 1.0});  // sqrt(DBL_MIN) = 1.5e-154
  EXPECT_EQ(factors.a, 1.0);
  EXPECT_EQ(factors.b, 0.5);
}

TEST(AdasumRuleTest, IsSymmetric) {
  std::vector<double> a;
  std::vector<double> b;
  for (int i = 0; i < 2000; ++i) {  // several blocks
    a.push_back(i % 7 - 2.5);
    b.push_back(i % 11 - 4.25);
  }
  EXPECT_THAT(Adasum(a, b), Pointwise(DoubleNear(1e-9), Adasum(b, a)));
}

TEST(AdasumRuleTest, WorksInPlaceAndRoundsFloat32Once) {
  std::vector<float> a{1.0f, 0.1f};
  const std::vector<float> b{0.3f, 0.7f};
  const std::vector<float> input = a;
  const AdasumFactors factors{0.6, 0.9};
  CombineAdasum(ElementType::kFloat32, factors, a.data(), b.data(), a.data(), 2);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(a[i], static_cast<float>(0.6 * input[i] + 0.9 * b[i]));
  }
}

// bfloat16 is the upper half of a float32, so the expected bits can be written down.
TEST(AdasumRuleTest, SixteenBitTypesCombineInFloat32) {
  const std::uint16_t one = 0x3F80;
  const std::uint16_t two = 0x4000;
  std::uint16_t to = 0;
  CombineAdasum(ElementType::kBfloat16, {0.5, 1.25}, &one, &two, &to, 1);
  EXPECT_EQ(to, 0x4040);  // 3
  AdasumSums sums;
  AddAdasumSums(ElementType::kBfloat16, &one, &two, 1, sums);
  EXPECT_EQ(sums.dot, 2.0);
  EXPECT_EQ(sums.b_squared, 4.0);
}

}  // namespace
}  // namespace horovodx::collectives

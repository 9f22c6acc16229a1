// The vector kernels against the scalar ones, over every pair of types.
#include <gtest/gtest.h>

#include <initializer_list>
#include <limits>

#include "kernels/cast.h"
#include "kernels/cpu/dispatch.h"
#include "tests/kernels/values.h"

namespace horovodx::kernels {
namespace {

class CastVectorTest : public LevelTest {
 protected:
  static Elements CastAt(cpu::Level level, ElementType type, const Elements& from, double factor) {
    EXPECT_TRUE(cpu::ForceLevel(level));
    Elements to(type, from.count(), 3);
    Cast(type, to.data(), from.type(), from.data(), from.count(), factor);
    return to;
  }

  static void ExpectScalarBits(ElementType to_type, const Elements& from, double factor) {
    const Elements expected = CastAt(cpu::Level::kScalar, to_type, from, factor);
    const Elements actual = CastAt(GetParam(), to_type, from, factor);
    ASSERT_TRUE(Same(expected, actual)) << "from " << NameOf(from.type()) << ", factor " << factor;
  }
};

TEST_P(CastVectorTest, EqualsScalarForEveryPairOfTypes) {
  for (const ElementType from : kAllTypes) {
    for (const ElementType to : kAllTypes) {
      for (std::size_t count = 0; count <= 130; ++count) {
        const Elements elements = SomeElements(from, count, static_cast<unsigned>(count));
        ASSERT_NO_FATAL_FAILURE(ExpectScalarBits(to, elements, 1.0));
        ASSERT_NO_FATAL_FAILURE(ExpectScalarBits(to, elements, 0.3));
      }
    }
  }
}

TEST_P(CastVectorTest, EqualsScalarForManyValuesAndAnyFactor) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const ElementType from : kAllTypes) {
    const Elements elements = SomeElements(from, 20003, 4);
    for (const ElementType to : kAllTypes) {
      for (const double factor : {1.0, -1.5, 0.0, 1e-3, 1e12, 1e300, kInfinity, kNan}) {
        ASSERT_NO_FATAL_FAILURE(ExpectScalarBits(to, elements, factor));
      }
    }
  }
}

TEST_P(CastVectorTest, EqualsScalarForEverySixteenBitFloat) {
  for (const ElementType from : {ElementType::kFloat16, ElementType::kBfloat16}) {
    Elements all(from, 1 << 16);
    for (std::size_t i = 0; i < all.count(); ++i) all.SetBits(i, i);
    for (const ElementType to : kAllTypes) ASSERT_NO_FATAL_FAILURE(ExpectScalarBits(to, all, 1.0));
  }
}

HVDX_TEST_VECTOR_LEVELS(CastVectorTest);

}  // namespace
}  // namespace horovodx::kernels

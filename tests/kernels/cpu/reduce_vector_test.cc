// The vector kernels against the scalar ones, over every type, operation and awkward length.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/cpu/dispatch.h"
#include "kernels/reduce.h"
#include "tests/kernels/values.h"

namespace horovodx::kernels {
namespace {

class ReduceVectorTest : public LevelTest {
 protected:
  // What ReduceMany makes of the inputs at a level.
  static Elements ReduceAt(cpu::Level level, ElementType type, ReduceOp op,
                           const std::vector<Elements>& inputs, double factor) {
    EXPECT_TRUE(cpu::ForceLevel(level));
    std::vector<const void*> in;
    for (const Elements& input : inputs) in.push_back(input.data());
    Elements to(type, inputs[0].count(), 5);
    ReduceMany(type, op, to.data(), in.data(), static_cast<int>(in.size()), to.count(), factor);
    return to;
  }

  static void ExpectScalarBits(int input_count, std::size_t count, double factor) {
    for (const ElementType type : kAllTypes) {
      std::vector<Elements> inputs;
      for (int k = 0; k < input_count; ++k) {
        const auto shift = static_cast<std::size_t>(k % 4);
        inputs.push_back(SomeElements(type, count, static_cast<unsigned>(count) + 77u * k, shift));
      }
      for (const ReduceOp op : kAllOps) {
        const Elements expected = ReduceAt(cpu::Level::kScalar, type, op, inputs, factor);
        const Elements actual = ReduceAt(GetParam(), type, op, inputs, factor);
        ASSERT_TRUE(Same(expected, actual))
            << NameOf(op) << " of " << input_count << " inputs, factor " << factor;
      }
    }
  }
};

TEST_P(ReduceVectorTest, EqualsScalarAtEveryShortLength) {
  for (std::size_t count = 0; count <= 130; ++count) {
    ASSERT_NO_FATAL_FAILURE(ExpectScalarBits(2, count, 1.0));
    ASSERT_NO_FATAL_FAILURE(ExpectScalarBits(3, count, 0.3));
  }
}

TEST_P(ReduceVectorTest, EqualsScalarAtLongOddLengths) {
  for (const std::size_t count : {255, 1000, 2049, 4099, 10007}) {
    ASSERT_NO_FATAL_FAILURE(ExpectScalarBits(2, count, 1.0));
    ASSERT_NO_FATAL_FAILURE(ExpectScalarBits(4, count, 1.0 / 3));
  }
}

TEST_P(ReduceVectorTest, EqualsScalarForEveryNumberOfInputs) {
  for (int input_count = 1; input_count <= 20; ++input_count) {
    for (const std::size_t count : {1, 33, 1057, 2500}) {
      ASSERT_NO_FATAL_FAILURE(ExpectScalarBits(input_count, count, 1.0));
      ASSERT_NO_FATAL_FAILURE(ExpectScalarBits(input_count, count, -0.7));
    }
  }
}

HVDX_TEST_VECTOR_LEVELS(ReduceVectorTest);

}  // namespace
}  // namespace horovodx::kernels

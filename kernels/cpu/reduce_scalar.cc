// The reduce kernels for any machine, and the reference for the vector ones.
//
// They go by blocks whose running result stays in the first-level cache, input after input, which
// leaves simple loops that compilers vectorise for the machine's basic instruction set.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/cpu/element.h"
#include "kernels/cpu/table.h"
#include "kernels/types.h"

namespace horovodx::kernels::cpu {
namespace {

constexpr std::size_t kBlock = 128;

// Integers arrive here as unsigned (see AddIntegers); promoting to int would make overflow
// undefined again.
struct Sum {
  template <class T>
  static T Combine(T a, T b) {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(0u + a + b);
    return static_cast<T>(a + b);
  }
};

struct Product {
  template <class T>
  static T Combine(T a, T b) {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(1u * a * b);
    return static_cast<T>(a * b);
  }
};

// a != a: a is NaN and wins; if b is NaN, a < b is false and b wins.
struct Min {
  template <class T>
  static T Combine(T a, T b) {
    return (a < b || a != a) ? a : b;
  }
};

struct Max {
  template <class T>
  static T Combine(T a, T b) {
    return (a > b || a != a) ? a : b;
  }
};

struct Or {
  static bool Combine(bool a, bool b) { return a || b; }
};

struct And {
  static bool Combine(bool a, bool b) { return a && b; }
};

template <class Format, class Op>
void ReduceElements(void* to, const void* const* inputs, int input_count, std::size_t count,
                    double factor) {
  using Work = typename Format::Work;
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t size = std::min(kBlock, count - begin);
    Work result[kBlock];
    for (std::size_t i = 0; i < size; ++i) {
      result[i] = LoadElement<Format>(inputs[0], begin + i);
    }
    for (int k = 1; k < input_count; ++k) {
      for (std::size_t i = 0; i < size; ++i) {
        result[i] = Op::Combine(result[i], LoadElement<Format>(inputs[k], begin + i));
      }
    }
    if constexpr (std::is_floating_point_v<Work>) {
      if (factor != 1.0) {
        for (std::size_t i = 0; i < size; ++i) result[i] *= static_cast<Work>(factor);
      }
    }
    for (std::size_t i = 0; i < size; ++i) StoreElement<Format>(to, begin + i, result[i]);
  }
}

constexpr void Add(ReduceTable& table, ElementType type, ReduceOp op, ReduceKernel kernel) {
  table.kernel[static_cast<std::size_t>(type)][static_cast<std::size_t>(op)] = kernel;
}

template <class Format>
constexpr void AddFloats(ReduceTable& table, ElementType type) {
  Add(table, type, ReduceOp::kSum, ReduceElements<Format, Sum>);
  Add(table, type, ReduceOp::kProduct, ReduceElements<Format, Product>);
  Add(table, type, ReduceOp::kMin, ReduceElements<Format, Min>);
  Add(table, type, ReduceOp::kMax, ReduceElements<Format, Max>);
}

// Wrapping around is the same for both signs, and defined for unsigned only.
template <class T>
constexpr void AddIntegers(ReduceTable& table, ElementType type) {
  using Wrapping = PlainElement<std::make_unsigned_t<T>>;
  Add(table, type, ReduceOp::kSum, ReduceElements<Wrapping, Sum>);
  Add(table, type, ReduceOp::kProduct, ReduceElements<Wrapping, Product>);
  Add(table, type, ReduceOp::kMin, ReduceElements<PlainElement<T>, Min>);
  Add(table, type, ReduceOp::kMax, ReduceElements<PlainElement<T>, Max>);
}

constexpr ReduceTable MakeTable() {
  ReduceTable table;
  AddIntegers<std::uint8_t>(table, ElementType::kUint8);
  AddIntegers<std::int8_t>(table, ElementType::kInt8);
  AddIntegers<std::uint16_t>(table, ElementType::kUint16);
  AddIntegers<std::int16_t>(table, ElementType::kInt16);
  AddIntegers<std::int32_t>(table, ElementType::kInt32);
  AddIntegers<std::int64_t>(table, ElementType::kInt64);
  AddFloats<Float16Element>(table, ElementType::kFloat16);
  AddFloats<Bfloat16Element>(table, ElementType::kBfloat16);
  AddFloats<PlainElement<float>>(table, ElementType::kFloat32);
  AddFloats<PlainElement<double>>(table, ElementType::kFloat64);
  Add(table, ElementType::kBool, ReduceOp::kSum, ReduceElements<BoolElement, Or>);
  Add(table, ElementType::kBool, ReduceOp::kMax, ReduceElements<BoolElement, Or>);
  Add(table, ElementType::kBool, ReduceOp::kProduct, ReduceElements<BoolElement, And>);
  Add(table, ElementType::kBool, ReduceOp::kMin, ReduceElements<BoolElement, And>);
  return table;
}

}  // namespace

constinit const ReduceTable kReduceScalar = MakeTable();

}  // namespace horovodx::kernels::cpu

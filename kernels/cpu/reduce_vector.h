// The reduce kernels of an instruction set; see vector.h for how Isa works.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/cpu/table.h"
#include "kernels/cpu/vector.h"
#include "kernels/types.h"

namespace horovodx::kernels::cpu {

template <class Isa>
struct VectorSum {
  template <class V>
  static V Combine(V a, V b) {
    return a + b;
  }
};

template <class Isa>
struct VectorProduct {
  template <class V>
  static V Combine(V a, V b) {
    return a * b;
  }
};

// a != a: a is NaN and wins; if b is NaN, a < b is false and b wins.
template <class Isa>
struct VectorMin {
  template <class V>
  static V Combine(V a, V b) {
    return ((a < b) | (a != a)) ? a : b;
  }
};

template <class Isa>
struct VectorMax {
  template <class V>
  static V Combine(V a, V b) {
    return ((a > b) | (a != a)) ? a : b;
  }
};

template <class Isa>
struct VectorOr {
  template <class V>
  static V Combine(V a, V b) {
    return a | b;
  }
};

template <class Isa>
struct VectorAnd {
  template <class V>
  static V Combine(V a, V b) {
    return a & b;
  }
};

// Twice as many bfloat16 as a register has floats. In memory every 32 bits hold two elements; taken
// apart as even and odd ones they need no shuffling on the way in or out.
template <class Isa>
struct Bfloat16Pairs {
  static constexpr int kWidth = Isa::kBytes / 2;
  static constexpr std::size_t kBytes = Isa::kBytes;
  using Work = float;
  using Bits = Vector<Isa, std::uint32_t, kWidth / 2>;
  using Floats = Vector<Isa, float, kWidth / 2>;
  struct Vec {
    Floats even;
    Floats odd;
    Vec operator*(float factor) const { return {even * factor, odd * factor}; }
  };
  static Vec Load(const std::byte* from) {
    const Bits bits = Memory<Isa, Bits>::Load(from);
    return {reinterpret_cast<Floats>(bits << 16), reinterpret_cast<Floats>(bits & 0xffff0000u)};
  }
  static void Store(std::byte* to, Vec vector) {
    Memory<Isa, Bits>::Store(to, (Round(vector.even) >> 16) | (Round(vector.odd) & 0xffff0000u));
  }

 private:
  // As Bfloat16FromFloat in half.h, the result in the upper half.
  static Bits Round(Floats vector) {
    const Bits bits = reinterpret_cast<Bits>(vector);
    const Bits quiet_nan = bits | 0x400000u;
    const Bits rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
    return vector != vector ? quiet_nan : rounded;
  }
};

template <class Isa, class Format, class Op>
class ReduceLoop {
  using Vec = typename Format::Vec;
  using Work = typename Format::Work;
  static constexpr std::size_t kStep = Format::kBytes;

 public:
  static void Run(void* to, const void* const* inputs, int input_count, std::size_t count,
                  double factor) {
    const std::size_t bytes = count * (kStep / Format::kWidth);
    if (input_count == 2) {  // ring steps and pairs of ranks: the loop over inputs dissolves
      Loop<2>(static_cast<std::byte*>(to), inputs, 2, bytes, factor);
    } else {
      Loop<0>(static_cast<std::byte*>(to), inputs, input_count, bytes, factor);
    }
  }

 private:
  // kInputs is the number of inputs, or 0 if only input_count knows it.
  template <int kInputs>
  static void Loop(std::byte* to, const void* const* inputs, int input_count, std::size_t bytes,
                   double factor) {
    // A copy that nothing else points at: the compiler need not fear that stores change it.
    const std::byte* in[kMaxInputs];
    const int n = kInputs != 0 ? kInputs : input_count;
    for (int k = 0; k < n; ++k) in[k] = static_cast<const std::byte*>(inputs[k]);
    const Scaling scaling(factor);
    std::size_t at = 0;
    for (; at + 4 * kStep <= bytes; at += 4 * kStep) FourVectors(to, in, n, at, scaling);
    for (; at + kStep <= bytes; at += kStep) OneVector(to, in, n, at, scaling);
    if (at < bytes) PartOfVector(to, in, n, at, bytes - at, scaling);
  }

  // Integers are scaled by the caller.
  struct Scaling {
    explicit Scaling(double by) : needed(by != 1.0), factor(static_cast<Work>(1)) {
      if constexpr (std::is_floating_point_v<Work>) factor = static_cast<Work>(by);
    }
    Vec Apply(Vec vector) const {
      if constexpr (std::is_floating_point_v<Work>) return needed ? vector * factor : vector;
      return vector;
    }
    bool needed;
    Work factor;
  };

  static Vec Combine(Vec a, Vec b) {
    if constexpr (std::is_same_v<Format, Bfloat16Pairs<Isa>>) {
      return {Op::Combine(a.even, b.even), Op::Combine(a.odd, b.odd)};
    } else {
      return Op::Combine(a, b);
    }
  }

  // Four running results hide the latency of the arithmetic, and share the cost of the loop.
  static void FourVectors(std::byte* to, const std::byte* const* in, int n, std::size_t at,
                          const Scaling& scaling) {
    Vec a = Format::Load(in[0] + at);
    Vec b = Format::Load(in[0] + at + kStep);
    Vec c = Format::Load(in[0] + at + 2 * kStep);
    Vec d = Format::Load(in[0] + at + 3 * kStep);
    for (int k = 1; k < n; ++k) {
      a = Combine(a, Format::Load(in[k] + at));
      b = Combine(b, Format::Load(in[k] + at + kStep));
      c = Combine(c, Format::Load(in[k] + at + 2 * kStep));
      d = Combine(d, Format::Load(in[k] + at + 3 * kStep));
    }
    Format::Store(to + at, scaling.Apply(a));
    Format::Store(to + at + kStep, scaling.Apply(b));
    Format::Store(to + at + 2 * kStep, scaling.Apply(c));
    Format::Store(to + at + 3 * kStep, scaling.Apply(d));
  }

  static void OneVector(std::byte* to, const std::byte* const* in, int n, std::size_t at,
                        const Scaling& scaling) {
    Vec result = Format::Load(in[0] + at);
    for (int k = 1; k < n; ++k) result = Combine(result, Format::Load(in[k] + at));
    Format::Store(to + at, scaling.Apply(result));
  }

  // What is left, filled up with zeros to a whole vector.
  static void PartOfVector(std::byte* to, const std::byte* const* in, int n, std::size_t at,
                           std::size_t bytes, const Scaling& scaling) {
    std::byte part[kStep] = {};
    std::memcpy(part, in[0] + at, bytes);
    Vec result = Format::Load(part);
    for (int k = 1; k < n; ++k) {
      std::memcpy(part, in[k] + at, bytes);
      result = Combine(result, Format::Load(part));
    }
    Format::Store(part, scaling.Apply(result));
    std::memcpy(to + at, part, bytes);
  }
};

template <class Isa>
class ReduceTableOf {
 public:
  static constexpr ReduceTable Make() {
    ReduceTable table;
    AddIntegers<std::uint8_t, std::uint8_t>(table, ElementType::kUint8);
    AddIntegers<std::uint8_t, std::int8_t>(table, ElementType::kInt8);
    AddIntegers<std::uint16_t, std::uint16_t>(table, ElementType::kUint16);
    AddIntegers<std::uint16_t, std::int16_t>(table, ElementType::kInt16);
    AddIntegers<std::uint32_t, std::int32_t>(table, ElementType::kInt32);
    AddIntegers<std::uint64_t, std::int64_t>(table, ElementType::kInt64);
    AddFloats<Float16Format<Isa, Isa::kBytes / 4>>(table, ElementType::kFloat16);
    AddFloats<Bfloat16Pairs<Isa>>(table, ElementType::kBfloat16);
    AddFloats<Whole<float>>(table, ElementType::kFloat32);
    AddFloats<Whole<double>>(table, ElementType::kFloat64);
    AddBool(table);
    return table;
  }

 private:
  // A register full of T.
  template <class T>
  using Whole = PlainFormat<Isa, T, Isa::kBytes / static_cast<int>(sizeof(T))>;

  static constexpr void Add(ReduceTable& table, ElementType type, ReduceOp op,
                            ReduceKernel kernel) {
    table.kernel[static_cast<std::size_t>(type)][static_cast<std::size_t>(op)] = kernel;
  }

  template <class Format>
  static constexpr void AddArithmetic(ReduceTable& table, ElementType type) {
    Add(table, type, ReduceOp::kSum, ReduceLoop<Isa, Format, VectorSum<Isa>>::Run);
    Add(table, type, ReduceOp::kProduct, ReduceLoop<Isa, Format, VectorProduct<Isa>>::Run);
  }

  template <class Format>
  static constexpr void AddOrdered(ReduceTable& table, ElementType type) {
    Add(table, type, ReduceOp::kMin, ReduceLoop<Isa, Format, VectorMin<Isa>>::Run);
    Add(table, type, ReduceOp::kMax, ReduceLoop<Isa, Format, VectorMax<Isa>>::Run);
  }

  // Wrapping around is the same for both signs, and defined for unsigned only.
  template <class Unsigned, class T>
  static constexpr void AddIntegers(ReduceTable& table, ElementType type) {
    AddArithmetic<Whole<Unsigned>>(table, type);
    AddOrdered<Whole<T>>(table, type);
  }

  template <class Format>
  static constexpr void AddFloats(ReduceTable& table, ElementType type) {
    AddArithmetic<Format>(table, type);
    AddOrdered<Format>(table, type);
  }

  static constexpr void AddBool(ReduceTable& table) {
    using Format = BoolFormat<Isa, Isa::kBytes>;
    using Any = ReduceLoop<Isa, Format, VectorOr<Isa>>;
    using All = ReduceLoop<Isa, Format, VectorAnd<Isa>>;
    Add(table, ElementType::kBool, ReduceOp::kSum, Any::Run);
    Add(table, ElementType::kBool, ReduceOp::kMax, Any::Run);
    Add(table, ElementType::kBool, ReduceOp::kProduct, All::Run);
    Add(table, ElementType::kBool, ReduceOp::kMin, All::Run);
  }
};

}  // namespace horovodx::kernels::cpu

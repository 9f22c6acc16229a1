// The cast kernels of an instruction set; see vector.h for how Isa works.
//
// Elements become vectors of float (16- and 32-bit floats) or double (all else), are multiplied
// there, and go on as float if both types are small floats, else as double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/cpu/table.h"
#include "kernels/cpu/vector.h"
#include "kernels/types.h"

namespace horovodx::kernels::cpu {

inline constexpr std::int64_t kGreatestInt64 = std::numeric_limits<std::int64_t>::max();

// The lower half of each 64-bit element, which is all of a mask or a small number.
template <class Isa, int kWidth>
class LowHalves {
  using Int32 = Vector<Isa, std::int32_t, kWidth>;
  using Int64 = Vector<Isa, std::int64_t, kWidth>;
  using Halves = Vector<Isa, std::int32_t, 2 * kWidth>;

 public:
  static Int32 Of(Int64 vector) {
    return Pick(reinterpret_cast<Halves>(vector), std::make_index_sequence<kWidth>());
  }

 private:
  template <std::size_t... kIndex>
  static Int32 Pick(Halves halves, std::index_sequence<kIndex...>) {
    return __builtin_shufflevector(halves, halves, (2 * kIndex)...);
  }
};

// Integers and bool as double. Fewer than 64 bits take the way over int32, which has instructions.
template <class Isa, class T, int kElements>
struct IntegerFormat {
  using Work = double;
  using Vec = Vector<Isa, double, kElements>;
  using Stored = Vector<Isa, T, kElements>;
  using Int32 = Vector<Isa, std::int32_t, kElements>;
  using Int64 = Vector<Isa, std::int64_t, kElements>;
  static constexpr int kWidth = kElements;
  static constexpr std::size_t kBytes = sizeof(Stored);
  static constexpr double kLeast = static_cast<double>(std::numeric_limits<T>::min());
  // The power of two just above the greatest value: exact in double, unlike int64's maximum.
  static constexpr T kHalf = std::numeric_limits<T>::max() / 2 + 1;
  static constexpr double kBeyond = 2.0 * static_cast<double>(kHalf);

  static Vec Load(const std::byte* from) {
    const Stored stored = Memory<Isa, Stored>::Load(from);
    if constexpr (sizeof(T) == 8) {
      return __builtin_convertvector(stored, Vec);
    } else {
      return __builtin_convertvector(__builtin_convertvector(stored, Int32), Vec);
    }
  }

  // Truncates toward zero, saturates, and makes NaN 0.
  static void Store(std::byte* to, Vec vector) {
    const Vec zero = {};
    const Vec number = vector == vector ? vector : zero;
    const Vec least = zero + kLeast;
    const Vec raised = number < least ? least : number;
    if constexpr (sizeof(T) == 8) {
      const Int64 beyond = raised >= kBeyond;
      const Vec within = beyond ? zero : raised;
      const Int64 greatest = Int64{} + kGreatestInt64;
      const Int64 converted = __builtin_convertvector(within, Int64);
      const Int64 result = beyond ? greatest : converted;
      Memory<Isa, Int64>::Store(to, result);
    } else {
      const Vec greatest = zero + (kBeyond - 1);
      const Vec within = raised > greatest ? greatest : raised;
      const Int32 converted = __builtin_convertvector(within, Int32);
      Memory<Isa, Stored>::Store(to, __builtin_convertvector(converted, Stored));
    }
  }
};

template <class Isa, int kElements>
struct TruthFormat {
  using Work = double;
  using Vec = Vector<Isa, double, kElements>;
  using Stored = Vector<Isa, std::uint8_t, kElements>;
  using Int32 = Vector<Isa, std::int32_t, kElements>;
  static constexpr int kWidth = kElements;
  static constexpr std::size_t kBytes = sizeof(Stored);
  static Vec Load(const std::byte* from) {
    const Stored truth = BoolFormat<Isa, kElements>::Load(from);
    return __builtin_convertvector(__builtin_convertvector(truth, Int32), Vec);
  }
  static void Store(std::byte* to, Vec vector) {
    const Int32 truth = LowHalves<Isa, kElements>::Of(vector != 0.0) & 1;
    Memory<Isa, Stored>::Store(to, __builtin_convertvector(truth, Stored));
  }
};

template <class Isa, ElementType kType, int kWidth>
constexpr auto CastFormatOf() {
  if constexpr (kType == ElementType::kUint8) return IntegerFormat<Isa, std::uint8_t, kWidth>{};
  if constexpr (kType == ElementType::kInt8) return IntegerFormat<Isa, std::int8_t, kWidth>{};
  if constexpr (kType == ElementType::kUint16) return IntegerFormat<Isa, std::uint16_t, kWidth>{};
  if constexpr (kType == ElementType::kInt16) return IntegerFormat<Isa, std::int16_t, kWidth>{};
  if constexpr (kType == ElementType::kInt32) return IntegerFormat<Isa, std::int32_t, kWidth>{};
  if constexpr (kType == ElementType::kInt64) return IntegerFormat<Isa, std::int64_t, kWidth>{};
  if constexpr (kType == ElementType::kFloat16) return Float16Format<Isa, kWidth>{};
  if constexpr (kType == ElementType::kFloat32) return PlainFormat<Isa, float, kWidth>{};
  if constexpr (kType == ElementType::kFloat64) return PlainFormat<Isa, double, kWidth>{};
  if constexpr (kType == ElementType::kBool) return TruthFormat<Isa, kWidth>{};
  if constexpr (kType == ElementType::kBfloat16) return Bfloat16Format<Isa, kWidth>{};
}

template <ElementType kType>
inline constexpr bool kIsSmallFloat =
    kType == ElementType::kFloat16 || kType == ElementType::kBfloat16 ||
    kType == ElementType::kFloat32;

template <class Isa, ElementType kTo, ElementType kFrom>
class CastLoop {
  static constexpr bool kAsFloat = kIsSmallFloat<kTo> && kIsSmallFloat<kFrom>;
  static constexpr int kWidth = Isa::kBytes / (kAsFloat ? 4 : 8);
  using To = decltype(CastFormatOf<Isa, kTo, kWidth>());
  using From = decltype(CastFormatOf<Isa, kFrom, kWidth>());
  using Floats = Vector<Isa, float, kWidth>;
  using Doubles = Vector<Isa, double, kWidth>;

 public:
  static void Run(void* to, const void* from, std::size_t count, double factor) {
    const auto scale = static_cast<typename From::Work>(factor);
    auto* out = static_cast<std::byte*>(to);
    const auto* in = static_cast<const std::byte*>(from);
    for (; count >= kWidth; count -= kWidth) {
      Step(out, in, scale);
      out += To::kBytes;
      in += From::kBytes;
    }
    if (count > 0) PartOfStep(out, in, count, scale);
  }

 private:
  static void Step(std::byte* to, const std::byte* from, typename From::Work scale) {
    To::Store(to, Convert(From::Load(from) * scale));
  }

  // What is left, filled up with zeros to a whole vector.
  static void PartOfStep(std::byte* to, const std::byte* from, std::size_t count,
                         typename From::Work scale) {
    std::byte in[From::kBytes] = {};
    std::byte out[To::kBytes];
    std::memcpy(in, from, count * (From::kBytes / kWidth));
    Step(out, in, scale);
    std::memcpy(to, out, count * (To::kBytes / kWidth));
  }

  static typename To::Vec Convert(typename From::Vec product) {
    if constexpr (std::is_same_v<typename To::Vec, typename From::Vec>) {
      return product;
    } else if constexpr (std::is_same_v<typename From::Vec, Floats>) {
      return __builtin_convertvector(product, Doubles);
    } else if constexpr (kTo == ElementType::kFloat32) {
      return __builtin_convertvector(product, Floats);
    } else {
      return RoundToOdd(product);
    }
  }

  // As RoundToOdd in half.h.
  static Floats RoundToOdd(Doubles value) {
    using Int32 = Vector<Isa, std::int32_t, kWidth>;
    using Int64 = Vector<Isa, std::int64_t, kWidth>;
    const Floats nearest = __builtin_convertvector(value, Floats);
    const Doubles back = __builtin_convertvector(nearest, Doubles);
    const Int64 inexact = (back != value) & (value == value);
    const Int64 too_small = Magnitude(back) < Magnitude(value);
    const Int64 toward_value = (too_small & 2) - 1;
    const Int32 step = LowHalves<Isa, kWidth>::Of(inexact & toward_value);
    const Int32 bits = reinterpret_cast<Int32>(nearest);
    const Int32 even = (bits & 1) - 1;  // all ones where the last bit is 0
    return reinterpret_cast<Floats>(bits + (step & even));
  }

  static Doubles Magnitude(Doubles value) {
    using Int64 = Vector<Isa, std::int64_t, kWidth>;
    return reinterpret_cast<Doubles>(reinterpret_cast<Int64>(value) & kGreatestInt64);
  }
};

template <class Isa>
class CastTableOf {
 public:
  static constexpr CastTable Make() {
    return MakeFor(std::make_index_sequence<kElementTypes * kElementTypes>());
  }

 private:
  template <std::size_t... kPairs>
  static constexpr CastTable MakeFor(std::index_sequence<kPairs...>) {
    CastTable table;
    ((table.kernel[kPairs / kElementTypes][kPairs % kElementTypes] =
          CastLoop<Isa, ElementType{kPairs / kElementTypes},
                   ElementType{kPairs % kElementTypes}>::Run),
     ...);
    return table;
  }
};

}  // namespace horovodx::kernels::cpu

// The cast kernels for any machine, and the reference for the vector ones.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/cpu/element.h"
#include "kernels/cpu/table.h"
#include "kernels/types.h"

namespace horovodx::kernels::cpu {
namespace {

template <ElementType kType>
constexpr auto FormatOf() {
  if constexpr (kType == ElementType::kUint8) return PlainElement<std::uint8_t>{};
  if constexpr (kType == ElementType::kInt8) return PlainElement<std::int8_t>{};
  if constexpr (kType == ElementType::kUint16) return PlainElement<std::uint16_t>{};
  if constexpr (kType == ElementType::kInt16) return PlainElement<std::int16_t>{};
  if constexpr (kType == ElementType::kInt32) return PlainElement<std::int32_t>{};
  if constexpr (kType == ElementType::kInt64) return PlainElement<std::int64_t>{};
  if constexpr (kType == ElementType::kFloat16) return Float16Element{};
  if constexpr (kType == ElementType::kFloat32) return PlainElement<float>{};
  if constexpr (kType == ElementType::kFloat64) return PlainElement<double>{};
  if constexpr (kType == ElementType::kBool) return BoolElement{};
  if constexpr (kType == ElementType::kBfloat16) return Bfloat16Element{};
}

// Truncates toward zero, saturates, and makes NaN 0.
template <class T>
T Truncate(double value) {
  using Limits = std::numeric_limits<T>;
  // The power of two just above the greatest value: exact in double, unlike int64's maximum.
  constexpr T kHalf = Limits::max() / 2 + 1;
  constexpr double kBeyond = 2.0 * static_cast<double>(kHalf);
  if (value >= kBeyond) return Limits::max();
  if (value <= static_cast<double>(Limits::min())) return Limits::min();
  return value == value ? static_cast<T>(value) : T{0};
}

// From float (a product of a 16- or 32-bit float) or double (of anything else).
template <class Format, class Product>
typename Format::Work Convert(Product product) {
  using Work = typename Format::Work;
  if constexpr (std::is_same_v<Work, bool>) {
    return product != 0;
  } else if constexpr (std::is_integral_v<Work>) {
    return Truncate<Work>(product);
  } else if constexpr (sizeof(typename Format::Stored) == 2 && std::is_same_v<Product, double>) {
    return RoundToOdd(product);
  } else {
    return static_cast<Work>(product);
  }
}

template <class To, class From>
void CastElements(void* to, const void* from, std::size_t count, double factor) {
  using Product = std::conditional_t<std::is_same_v<typename From::Work, float>, float, double>;
  const auto scale = static_cast<Product>(factor);
  for (std::size_t i = 0; i < count; ++i) {
    const Product product = static_cast<Product>(LoadElement<From>(from, i)) * scale;
    StoreElement<To>(to, i, Convert<To>(product));
  }
}

template <std::size_t... kPairs>
constexpr CastTable MakeTable(std::index_sequence<kPairs...>) {
  CastTable table;
  ((table.kernel[kPairs / kElementTypes][kPairs % kElementTypes] =
        CastElements<decltype(FormatOf<ElementType{kPairs / kElementTypes}>()),
                     decltype(FormatOf<ElementType{kPairs % kElementTypes}>())>),
   ...);
  return table;
}

}  // namespace

constinit const CastTable kCastScalar =
    MakeTable(std::make_index_sequence<kElementTypes * kElementTypes>());

}  // namespace horovodx::kernels::cpu

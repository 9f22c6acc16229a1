#include "horovodx/collectives/adasum_rule.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "kernels/cast.h"

namespace horovodx::collectives {
namespace {

// Elements are widened a block at a time: a few KiB of stack, all in the nearest cache.
constexpr std::size_t kBlock = 512;

template <typename Wide>
constexpr ElementType WideType() {
  return sizeof(Wide) == 8 ? ElementType::kFloat64 : ElementType::kFloat32;
}

template <typename F>
void ForEachBlock(std::size_t count, F f) {
  for (std::size_t at = 0; at < count; at += kBlock) f(at, std::min(kBlock, count - at));
}

const void* At(const void* data, std::size_t bytes) {
  return static_cast<const std::byte*>(data) + bytes;
}

template <typename Wide>
void Combine(ElementType type, Wide of_a, Wide of_b, const void* a, const void* b, void* to,
             std::size_t count) {
  const std::size_t unit = SizeOf(type);
  Wide wide_a[kBlock];
  Wide wide_b[kBlock];
  ForEachBlock(count, [&](std::size_t at, std::size_t n) {
    kernels::Cast(WideType<Wide>(), wide_a, type, At(a, at * unit), n);
    kernels::Cast(WideType<Wide>(), wide_b, type, At(b, at * unit), n);
    for (std::size_t i = 0; i < n; ++i) wide_a[i] = of_a * wide_a[i] + of_b * wide_b[i];
    kernels::Cast(type, static_cast<std::byte*>(to) + at * unit, WideType<Wide>(), wide_a, n);
  });
}

}  // namespace

void AddAdasumSums(ElementType type, const void* a, const void* b, std::size_t count,
                   AdasumSums& sums) {
  const std::size_t unit = SizeOf(type);
  double wide_a[kBlock];
  double wide_b[kBlock];
  ForEachBlock(count, [&](std::size_t at, std::size_t n) {
    kernels::Cast(ElementType::kFloat64, wide_a, type, At(a, at * unit), n);
    kernels::Cast(ElementType::kFloat64, wide_b, type, At(b, at * unit), n);
    for (std::size_t i = 0; i < n; ++i) {
      sums.dot += wide_a[i] * wide_b[i];
      sums.a_squared += wide_a[i] * wide_a[i];
      sums.b_squared += wide_b[i] * wide_b[i];
    }
  });
}

AdasumFactors AdasumFactorsOf(const AdasumSums& sums) {
  static const double kTooSmall = std::sqrt(DBL_MIN);
  AdasumFactors factors;
  if (sums.a_squared >= kTooSmall) factors.a = 1.0 - sums.dot / (2.0 * sums.a_squared);
  if (sums.b_squared >= kTooSmall) factors.b = 1.0 - sums.dot / (2.0 * sums.b_squared);
  return factors;
}

void CombineAdasum(ElementType type, const AdasumFactors& factors, const void* a, const void* b,
                   void* to, std::size_t count) {
  if (SizeOf(type) == 2) {
    Combine(type, static_cast<float>(factors.a), static_cast<float>(factors.b), a, b, to, count);
  } else {
    Combine(type, factors.a, factors.b, a, b, to, count);
  }
}

}  // namespace horovodx::collectives

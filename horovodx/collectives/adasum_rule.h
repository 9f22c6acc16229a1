// The Adasum rule for two vectors: orthogonal ones are added, parallel equal ones averaged. Pure.
//
//   adasum(a, b) = (1 - a.b / 2|a|^2) a + (1 - a.b / 2|b|^2) b
//
// A vector whose square is below sqrt(DBL_MIN) keeps the factor 1. Sums are in float64 for every
// type. The combination is evaluated in double for float32 and float64, in float32 for the 16-bit
// types, and rounded once.
#pragma once

#include <cstddef>

#include "kernels/types.h"

namespace horovodx::collectives {

struct AdasumSums {
  double dot = 0;        // a.b
  double a_squared = 0;  // |a|^2
  double b_squared = 0;  // |b|^2
};

struct AdasumFactors {
  double a = 1;
  double b = 1;
};

constexpr bool AdasumSupports(ElementType type) {
  return type == ElementType::kFloat16 || type == ElementType::kBfloat16 ||
         type == ElementType::kFloat32 || type == ElementType::kFloat64;
}

// Adds the elements' part to `sums`, in order.
void AddAdasumSums(ElementType type, const void* a, const void* b, std::size_t count,
                   AdasumSums& sums);
AdasumFactors AdasumFactorsOf(const AdasumSums& sums);
// to = factors.a * a + factors.b * b; `to` may be a or b.
void CombineAdasum(ElementType type, const AdasumFactors& factors, const void* a, const void* b,
                   void* to, std::size_t count);

}  // namespace horovodx::collectives

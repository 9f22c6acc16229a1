// Conversion between element types, with a factor in the same pass.
//
// Floats round to nearest even, once; float to integer truncates toward zero and saturates (NaN
// becomes 0); to bool is "non-zero". The factor multiplies as in scale.h, before the conversion.
// Integers travel as float64, also from one integer type to another: they saturate, and an int64
// beyond 2^53 is rounded first. Memory need not be aligned.
//
// Thread: any; no state. Cost: one pass.
#pragma once

#include <cstddef>

#include "kernels/types.h"

namespace horovodx::kernels {

// to[i] = convert(from[i] * factor). The two ranges must not overlap unless the types are equal.
void Cast(ElementType to_type, void* to, ElementType from_type, const void* from, std::size_t count,
          double factor = 1.0);

}  // namespace horovodx::kernels

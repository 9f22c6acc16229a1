// Conversion between element types, with a factor in the same pass.
//
// Floats round to nearest even; float to integer truncates toward zero and saturates (NaN becomes
// 0); to bool is "non-zero".
#pragma once

#include <cstddef>

#include "kernels/types.h"

namespace horovodx::kernels {

// to[i] = convert(from[i] * factor). The two ranges must not overlap unless the types are equal.
void Cast(ElementType to_type, void* to, ElementType from_type, const void* from, std::size_t count,
          double factor = 1.0);

}  // namespace horovodx::kernels

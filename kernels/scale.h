// Multiplication by one factor.
//
// float16, bfloat16 and float32 multiply in float32 by the factor converted to float32, float64 in
// double. Integers multiply in double and truncate toward zero, so the average of integers is
// trunc(sum * (1/n)); what is out of range saturates and NaN becomes 0. uint16 and int16 follow the
// integer rule; bool is whether the product is non-zero.
//
// Thread: any; no state. Cost: one pass. `to` may equal `from`; otherwise they must not overlap.
#pragma once

#include <cstddef>

#include "kernels/types.h"

namespace horovodx::kernels {

// to[i] = from[i] * factor. A plain copy when the factor is exactly 1.
void Scale(ElementType type, void* to, const void* from, std::size_t count, double factor);

}  // namespace horovodx::kernels

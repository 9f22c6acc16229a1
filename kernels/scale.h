// Multiplication by one factor.
//
// float16, bfloat16 and float32 multiply in float32 by the factor converted to float32, float64 in
// double. Integers multiply in double and truncate toward zero, so the average of integers is
// trunc(sum * (1/n)). uint16, int16 and bool follow the integer rule (bool: non-zero is true).
//
// Thread: any; no state. Cost: one pass. `to` may equal `from`; otherwise they must not overlap.
#pragma once

#include <cstddef>

#include "kernels/types.h"

namespace horovodx::kernels {

// to[i] = from[i] * factor. A plain copy when the factor is exactly 1.
void Scale(ElementType type, void* to, const void* from, std::size_t count, double factor);

}  // namespace horovodx::kernels

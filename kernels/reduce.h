// Element-wise reductions over plain memory, for every element type.
//
// `op` is kSum, kMin, kMax or kProduct (averages are a sum and a scale; Adasum is not
// element-wise). 16-bit floats are added up in float32 and rounded once per call. Integers wrap
// around. Bool: sum and max are "or", product and min are "and". Min and max propagate NaN. Memory
// need not be aligned. The instruction set is chosen once, when the first kernel runs
// (cpu/dispatch.cc).
//
// Thread: any; no state. Cost: one pass over the memory.
#pragma once

#include <cstddef>

#include "kernels/types.h"

namespace horovodx::kernels {

// into[i] = op(into[i], from[i]).
void Reduce(ElementType type, ReduceOp op, void* into, const void* from, std::size_t count);

// to[i] = factor * op(inputs[0][i], inputs[1][i], ...), combined in the order of `inputs`, which
// makes the result independent of who arrived first. Any number of inputs >= 1: 2 to 16 take one
// pass over memory, more go by steps of 16 (and 16-bit floats are rounded after each). `to` may be
// one of the inputs, and inputs may repeat. `factor` is applied as in scale.h and skipped when it
// is exactly 1.
void ReduceMany(ElementType type, ReduceOp op, void* to, const void* const* inputs, int input_count,
                std::size_t count, double factor = 1.0);

}  // namespace horovodx::kernels

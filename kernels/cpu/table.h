// What a kernel is, and the tables in which each instruction set lists its own.
//
// Included by files compiled for AVX-512: keep this header free of functions.
#pragma once

#include <cstddef>

#include "kernels/types.h"

namespace horovodx::kernels::cpu {

// The most inputs a reduce kernel takes.
inline constexpr int kMaxInputs = 16;

// to[i] = factor * op(inputs[0][i], ...), for 1 to kMaxInputs inputs. `to` may be one of them.
// Kernels of integers and bool ignore the factor: the caller scales the result while it is in
// cache.
using ReduceKernel = void (*)(void* to, const void* const* inputs, int input_count,
                              std::size_t count, double factor);

// to[i] = convert(from[i] * factor). `to` may equal `from` if the types are equal.
using CastKernel = void (*)(void* to, const void* from, std::size_t count, double factor);

struct ReduceTable {
  ReduceKernel kernel[kElementTypes][kReduceOps] = {};  // null: not an element-wise operation
};

struct CastTable {
  CastKernel kernel[kElementTypes][kElementTypes] = {};  // [to][from]
};

extern const ReduceTable kReduceScalar;
extern const ReduceTable kReduceAvx2;
extern const ReduceTable kReduceAvx512;

extern const CastTable kCastScalar;
extern const CastTable kCastAvx2;
extern const CastTable kCastAvx512;

}  // namespace horovodx::kernels::cpu

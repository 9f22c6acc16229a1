// Which instruction set the kernels use: the best this machine has, chosen once.
//
// Thread: any, except ForceLevel.
#pragma once

#include "kernels/cpu/table.h"
#include "kernels/types.h"

namespace horovodx::kernels::cpu {

enum class Level { kScalar, kAvx2, kAvx512 };

const char* NameOf(Level level);

// Whether this build has the level and both processor and operating system support it.
bool Supports(Level level);

// The level in use.
Level ActiveLevel();

// Uses `level` from now on; false, and no change, if it is not supported. For tests: no kernel may
// run meanwhile.
bool ForceLevel(Level level);

// The kernels of the level in use. `op` is kSum, kMin, kMax or kProduct.
ReduceKernel ReduceKernelOf(ElementType type, ReduceOp op);
CastKernel CastKernelOf(ElementType to_type, ElementType from_type);

}  // namespace horovodx::kernels::cpu

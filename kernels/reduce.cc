#include "kernels/reduce.h"

#include <algorithm>
#include <cstddef>

#include "kernels/cpu/dispatch.h"
#include "kernels/scale.h"

namespace horovodx::kernels {
namespace {

// Small enough that a block and its inputs stay in the first-level cache.
constexpr std::size_t kBlockBytes = 2048;

bool IsFloat(ElementType type) {
  return type == ElementType::kFloat16 || type == ElementType::kBfloat16 ||
         type == ElementType::kFloat32 || type == ElementType::kFloat64;
}

// inputs[0, input_count) from byte `offset` on.
void Advance(const void** at, const void* const* inputs, int input_count, std::size_t offset) {
  for (int k = 0; k < input_count; ++k) at[k] = static_cast<const std::byte*>(inputs[k]) + offset;
}

// Calls f(offset in bytes, elements) for each block.
template <class F>
void ForEachBlock(ElementType type, std::size_t count, F f) {
  const std::size_t block = kBlockBytes / SizeOf(type);
  for (std::size_t begin = 0; begin < count; begin += block) {
    f(begin * SizeOf(type), std::min(block, count - begin));
  }
}

// Integers cannot be scaled in the register they are added in: they are, a block later.
void ReduceThenScale(ElementType type, ReduceOp op, void* to, const void* const* inputs,
                     int input_count, std::size_t count, double factor) {
  const cpu::ReduceKernel reduce = cpu::ReduceKernelOf(type, op);
  ForEachBlock(type, count, [&](std::size_t offset, std::size_t size) {
    const void* at[cpu::kMaxInputs];
    Advance(at, inputs, input_count, offset);
    std::byte* block = static_cast<std::byte*>(to) + offset;
    reduce(block, at, input_count, size, 1.0);
    Scale(type, block, block, size, factor);
  });
}

void ReduceInOneStep(ElementType type, ReduceOp op, void* to, const void* const* inputs,
                     int input_count, std::size_t count, double factor) {
  if (factor == 1.0 || IsFloat(type)) {
    cpu::ReduceKernelOf(type, op)(to, inputs, input_count, count, factor);
  } else {
    ReduceThenScale(type, op, to, inputs, input_count, count, factor);
  }
}

// A block of more inputs than a kernel takes. `to` may be any of them, so what is not finished
// waits elsewhere.
void ReduceBlockBySteps(ElementType type, ReduceOp op, void* to, const void* const* inputs,
                        int input_count, std::size_t offset, std::size_t count, double factor) {
  alignas(64) std::byte unfinished[kBlockBytes];
  const void* step[cpu::kMaxInputs];
  Advance(step, inputs, cpu::kMaxInputs, offset);
  ReduceInOneStep(type, op, unfinished, step, cpu::kMaxInputs, count, 1.0);
  step[0] = unfinished;
  for (int done = cpu::kMaxInputs; done < input_count;) {
    const int more = std::min(cpu::kMaxInputs - 1, input_count - done);
    Advance(step + 1, inputs + done, more, offset);
    done += more;
    const bool last = done == input_count;
    void* result = last ? static_cast<std::byte*>(to) + offset : unfinished;
    ReduceInOneStep(type, op, result, step, more + 1, count, last ? factor : 1.0);
  }
}

}  // namespace

void Reduce(ElementType type, ReduceOp op, void* into, const void* from, std::size_t count) {
  const void* const inputs[] = {into, from};
  cpu::ReduceKernelOf(type, op)(into, inputs, 2, count, 1.0);
}

void ReduceMany(ElementType type, ReduceOp op, void* to, const void* const* inputs, int input_count,
                std::size_t count, double factor) {
  if (input_count == 1) {
    Scale(type, to, inputs[0], count, factor);
  } else if (input_count <= cpu::kMaxInputs) {
    ReduceInOneStep(type, op, to, inputs, input_count, count, factor);
  } else {
    ForEachBlock(type, count, [&](std::size_t offset, std::size_t size) {
      ReduceBlockBySteps(type, op, to, inputs, input_count, offset, size, factor);
    });
  }
}

}  // namespace horovodx::kernels

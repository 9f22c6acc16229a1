#include "kernels/cpu/dispatch.h"

#include <atomic>
#include <cassert>
#include <cstddef>

#ifdef HVDX_KERNELS_X86
#include <cpuid.h>
#endif

namespace horovodx::kernels::cpu {
namespace {

struct Tables {
  Level level;
  const ReduceTable* reduce;
  const CastTable* cast;
};

#ifdef HVDX_KERNELS_X86

// Best last.
constexpr Tables kTables[] = {
    {Level::kScalar, &kReduceScalar, &kCastScalar},
    {Level::kAvx2, &kReduceAvx2, &kCastAvx2},
    {Level::kAvx512, &kReduceAvx512, &kCastAvx512},
};

// Asked by hand because not every compiler's __builtin_cpu_supports knows it.
bool HasF16c() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

// __builtin_cpu_supports also says no when the operating system does not save the registers.
bool HasAvx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && HasF16c();
}

bool HasAvx512() {
  return HasAvx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}

#else

constexpr Tables kTables[] = {{Level::kScalar, &kReduceScalar, &kCastScalar}};

bool HasAvx2() { return false; }
bool HasAvx512() { return false; }

#endif

std::atomic<const Tables*> active{nullptr};

const Tables& Best() {
  const Tables* best = &kTables[0];
  for (const Tables& tables : kTables) {
    if (Supports(tables.level)) best = &tables;
  }
  return *best;
}

// Two threads may both choose at the start; they choose the same.
const Tables& Active() {
  const Tables* tables = active.load();
  if (tables == nullptr) {
    tables = &Best();
    active.store(tables);
  }
  return *tables;
}

}  // namespace

const char* NameOf(Level level) {
  switch (level) {
    case Level::kScalar:
      return "scalar";
    case Level::kAvx2:
      return "avx2";
    case Level::kAvx512:
      return "avx512";
  }
  return "unknown";
}

bool Supports(Level level) {
  switch (level) {
    case Level::kScalar:
      return true;
    case Level::kAvx2:
      return HasAvx2();
    case Level::kAvx512:
      return HasAvx512();
  }
  return false;
}

Level ActiveLevel() { return Active().level; }

bool ForceLevel(Level level) {
  if (!Supports(level)) return false;
  for (const Tables& tables : kTables) {
    if (tables.level == level) active.store(&tables);
  }
  return true;
}

ReduceKernel ReduceKernelOf(ElementType type, ReduceOp op) {
  const ReduceKernel kernel =
      Active().reduce->kernel[static_cast<std::size_t>(type)][static_cast<std::size_t>(op)];
  assert(kernel != nullptr);
  return kernel;
}

CastKernel CastKernelOf(ElementType to_type, ElementType from_type) {
  return Active()
      .cast->kernel[static_cast<std::size_t>(to_type)][static_cast<std::size_t>(from_type)];
}

}  // namespace horovodx::kernels::cpu

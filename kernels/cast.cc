#include "kernels/cast.h"

#include "kernels/copy.h"
#include "kernels/cpu/dispatch.h"

namespace horovodx::kernels {

void Cast(ElementType to_type, void* to, ElementType from_type, const void* from, std::size_t count,
          double factor) {
  if (count == 0) return;
  if (to_type == from_type && factor == 1.0) {
    if (to != from) Copy(to, from, count * SizeOf(to_type));
  } else {
    cpu::CastKernelOf(to_type, from_type)(to, from, count, factor);
  }
}

}  // namespace horovodx::kernels

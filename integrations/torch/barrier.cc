// Barrier: returns when every member of the set has come.
#include <memory>

#include "integrations/torch/in_flight.h"
#include "integrations/torch/kernels.h"
#include "integrations/torch/stack.h"

namespace hvdx_torch {

void Barrier(StableIValue* stack, std::uint64_t, std::uint64_t) {
  const std::int32_t process_set = Arguments(stack).TakeInt32();
  const std::int64_t none = 0;
  Tensor nothing = Tensor::Empty({&none, 1}, aoti_torch_dtype_uint8());
  Run(std::make_shared<Operation>(HVDX_BARRIER, "barrier.noname", process_set, std::move(nothing)));
}

}  // namespace hvdx_torch

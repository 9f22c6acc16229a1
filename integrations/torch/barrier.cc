// Barrier: returns when every member of the set has come.
//
// The result means nothing, but there must be one: code that Inductor (2.13) makes frees buffers
// too early around an operator that has no tensor at all.
#include <memory>
#include <utility>

#include "integrations/torch/in_flight.h"
#include "integrations/torch/kernels.h"
#include "integrations/torch/stack.h"

namespace hvdx_torch {

void Barrier(StableIValue* stack, std::uint64_t, std::uint64_t) {
  const std::int32_t process_set = Arguments(stack).TakeInt32();
  const std::int64_t none = 0;
  Tensor nothing = Tensor::Empty({&none, 1}, aoti_torch_dtype_uint8());
  Run(std::make_shared<Operation>(HVDX_BARRIER, "barrier.noname", process_set, std::move(nothing)));
  Results(stack).Put(ScalarTensor(process_set));
}

}  // namespace hvdx_torch

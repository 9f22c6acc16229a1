// Broadcast, and the gradient of it.
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "integrations/torch/in_flight.h"
#include "integrations/torch/kernels.h"
#include "integrations/torch/stack.h"

namespace hvdx_torch {
namespace {

OperationPtr TakeBroadcast(StableIValue* stack) {
  Arguments arguments(stack);
  Tensor input = arguments.TakeTensor();
  const std::int32_t root = arguments.TakeInt32();
  const std::string name = arguments.TakeString();
  const std::int32_t process_set = arguments.TakeInt32();
  auto operation = std::make_shared<Operation>(HVDX_BROADCAST, "broadcast." + name, process_set,
                                               std::move(input));
  operation->SetRoot(root);
  return operation;
}

}  // namespace

void Broadcast(StableIValue* stack, std::uint64_t, std::uint64_t) {
  const OperationPtr operation = TakeBroadcast(stack);
  operation->WriteTo(operation->result().EmptyLike());
  Run(operation);
  Results(stack).Put(std::move(operation->result()));
}

void BroadcastInPlace(StableIValue* stack, std::uint64_t, std::uint64_t) {
  const OperationPtr operation = TakeBroadcast(stack);
  operation->WriteToInput();
  Run(operation);
}

// The average of the gradients on the root, zero elsewhere.
void BroadcastBackward(StableIValue* stack, std::uint64_t, std::uint64_t) {
  Arguments arguments(stack);
  Tensor gradient = arguments.TakeTensor();
  const std::int32_t root = arguments.TakeInt32();
  const std::string name = arguments.TakeString();
  const std::int32_t process_set = arguments.TakeInt32();
  Tensor output = gradient.EmptyLike();
  const auto operation = std::make_shared<Operation>(HVDX_ALLREDUCE, "allreduce." + name,
                                                     process_set, std::move(gradient));
  operation->Reduce({HVDX_AVERAGE, 1.0, 1.0});
  operation->WriteTo(std::move(output));
  Run(operation);
  Tensor& result = operation->result();
  // Floating point zero is all bits zero.
  if (horovod_rank() != root && result.count() > 0) {
    std::memset(result.mutable_data(), 0, result.bytes());
  }
  Results(stack).Put(std::move(result));
}

}  // namespace hvdx_torch

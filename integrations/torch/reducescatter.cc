// Reducescatter: each member gets its share of the rows of the sum.
#include <memory>
#include <string>
#include <utility>

#include "integrations/torch/errors.h"
#include "integrations/torch/in_flight.h"
#include "integrations/torch/kernels.h"
#include "integrations/torch/stack.h"

namespace hvdx_torch {
namespace {

// The first members get the rows that are left over.
std::int64_t OwnRows(std::int64_t rows, std::int32_t process_set) {
  const std::int64_t members = horovod_process_set_size(process_set);
  const std::int64_t me = horovod_process_set_rank(process_set);
  if (members <= 0 || me < 0) return 0;  // the engine says what is wrong
  return rows / members + (me < rows % members ? 1 : 0);
}

}  // namespace

void Reducescatter(StableIValue* stack, std::uint64_t, std::uint64_t) {
  Arguments arguments(stack);
  Tensor input = arguments.TakeTensor();
  const std::string name = arguments.TakeString();
  Reduction reduction{};
  reduction.op = arguments.TakeInt32();
  reduction.prescale = arguments.TakeDouble();
  reduction.postscale = arguments.TakeDouble();
  const std::int32_t process_set = arguments.TakeInt32();
  if (input.shape().empty()) Throw("reducescatter does not support scalar inputs");
  Tensor output = input.EmptyWithRows(OwnRows(input.shape()[0], process_set));
  const auto operation = std::make_shared<Operation>(HVDX_REDUCESCATTER, "reducescatter." + name,
                                                     process_set, std::move(input));
  operation->Reduce(reduction);
  operation->WriteTo(std::move(output));
  Run(operation);
  Results(stack).Put(std::move(operation->result()));
}

}  // namespace hvdx_torch

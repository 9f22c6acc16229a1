// Allgather, and the gradient of it.
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "integrations/torch/errors.h"
#include "integrations/torch/in_flight.h"
#include "integrations/torch/kernels.h"
#include "integrations/torch/stack.h"

namespace hvdx_torch {
namespace {

Tensor Gather(const std::string& name, std::int32_t process_set, Tensor input) {
  const auto operation = std::make_shared<Operation>(HVDX_ALLGATHER, "allgather." + name,
                                                     process_set, std::move(input));
  operation->WriteToNewTensor();
  Run(operation);
  return std::move(operation->result());
}

Tensor Average(const std::string& name, std::int32_t process_set, Tensor input) {
  Tensor output = input.EmptyLike();
  const auto operation = std::make_shared<Operation>(HVDX_ALLREDUCE, "allreduce." + name,
                                                     process_set, std::move(input));
  operation->Reduce({HVDX_AVERAGE, 1.0, 1.0});
  operation->WriteTo(std::move(output));
  Run(operation);
  return std::move(operation->result());
}

// The first of this member's rows among everybody's.
std::int64_t OwnOffset(const std::string& name, std::int32_t process_set, std::int64_t rows) {
  const std::int64_t one = 1;
  Tensor mine = Tensor::Empty({&one, 1}, aoti_torch_dtype_int64());
  *static_cast<std::int64_t*>(mine.mutable_data()) = rows;
  const Tensor all = Gather(name + ".rows", process_set, std::move(mine));
  const auto* counts = static_cast<const std::int64_t*>(all.data());
  const std::int64_t before = horovod_process_set_rank(process_set);
  if (before < 0 || before >= all.count()) ThrowLast();
  return std::accumulate(counts, counts + before, std::int64_t{0});
}

}  // namespace

void Allgather(StableIValue* stack, std::uint64_t, std::uint64_t) {
  Arguments arguments(stack);
  Tensor input = arguments.TakeTensor();
  const std::string name = arguments.TakeString();
  const std::int32_t process_set = arguments.TakeInt32();
  const std::int64_t rows = arguments.TakeInt();
  Tensor output = Gather(name, process_set, std::move(input));
  if (rows >= 0 && output.shape()[0] != rows) {
    Throw("allgather of '" + name + "': expected " + std::to_string(rows) +
          " rows of all members together, got " + std::to_string(output.shape()[0]));
  }
  Results(stack).Put(std::move(output));
}

void AllgatherBackward(StableIValue* stack, std::uint64_t, std::uint64_t) {
  Arguments arguments(stack);
  Tensor gradient = arguments.TakeTensor();
  const std::int64_t rows = arguments.TakeInt();
  const std::string name = arguments.TakeString();
  const std::int32_t process_set = arguments.TakeInt32();
  const std::int64_t offset = OwnOffset(name, process_set, rows);
  const Tensor averaged = Average(name, process_set, std::move(gradient));
  if (offset + rows > averaged.shape()[0]) {
    Throw("gradient of allgather '" + name + "': it has too few rows");
  }
  Tensor mine = averaged.EmptyWithRows(rows);
  if (mine.count() > 0) {
    const std::size_t row = mine.bytes() / static_cast<std::size_t>(rows);
    std::memcpy(mine.mutable_data(),
                static_cast<const char*>(averaged.data()) + static_cast<std::size_t>(offset) * row,
                mine.bytes());
  }
  Results(stack).Put(std::move(mine));
}

}  // namespace hvdx_torch

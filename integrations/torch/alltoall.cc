// Alltoall: rows to everybody, rows from everybody.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "integrations/torch/errors.h"
#include "integrations/torch/in_flight.h"
#include "integrations/torch/kernels.h"
#include "integrations/torch/stack.h"

namespace hvdx_torch {
namespace {

// None: equal shares.
std::vector<std::int32_t> SplitsIn(const Tensor& tensor, const std::string& name) {
  if (tensor.shape().size() != 1) {
    Throw("Alltoall of '" + name + "' expects a 1D splits tensor");
  }
  if (tensor.dtype() != aoti_torch_dtype_int32()) {
    Throw("Alltoall of '" + name + "' expects splits with 32-bit integer elements");
  }
  Operation::CheckReadable(tensor, name);
  const auto* data = static_cast<const std::int32_t*>(tensor.data());
  return {data, data + tensor.count()};
}

Tensor TensorOf(const std::vector<std::int32_t>& numbers) {
  const auto count = static_cast<std::int64_t>(numbers.size());
  Tensor tensor = Tensor::Empty({&count, 1}, aoti_torch_dtype_int32());
  std::copy(numbers.begin(), numbers.end(), static_cast<std::int32_t*>(tensor.mutable_data()));
  return tensor;
}

void ClearRowsFrom(Tensor& tensor, std::int64_t row) {
  const std::int64_t rows = tensor.shape()[0];
  if (row >= rows) return;
  const std::size_t row_bytes = tensor.bytes() / static_cast<std::size_t>(rows);
  const std::size_t kept = row_bytes * static_cast<std::size_t>(row);
  std::memset(static_cast<char*>(tensor.mutable_data()) + kept, 0, tensor.bytes() - kept);
}

}  // namespace

void Alltoall(StableIValue* stack, std::uint64_t, std::uint64_t) {
  Arguments arguments(stack);
  Tensor input = arguments.TakeTensor();
  const Tensor splits = arguments.TakeTensor();
  const std::string name = arguments.TakeString();
  const std::int32_t process_set = arguments.TakeInt32();
  const std::int64_t rows = arguments.TakeInt();
  const auto operation =
      std::make_shared<Operation>(HVDX_ALLTOALL, "alltoall." + name, process_set, std::move(input));
  operation->SetSplits(SplitsIn(splits, name));
  operation->WriteToNewTensor(rows);
  const std::vector<std::int32_t> received = RunForSplits(operation);
  ClearRowsFrom(operation->result(), operation->rows_filled());
  Results results(stack);
  results.Put(std::move(operation->result()));
  results.Put(TensorOf(received));
}

}  // namespace hvdx_torch

#include "integrations/torch/stack.h"

#include <bit>

#include "integrations/torch/errors.h"

namespace hvdx_torch {
namespace {

template <typename Handle>
Handle HandleIn(StableIValue value) {
  return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(value));
}

}  // namespace

Tensor Arguments::TakeTensor() { return Tensor(HandleIn<AtenTensorHandle>(*next_++)); }

std::vector<Tensor> Arguments::TakeTensors() {
  const auto list = HandleIn<StableListHandle>(*next_++);
  std::size_t size = 0;
  Check(torch_list_size(list, &size), "list_size");
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < size; ++i) {
    StableIValue item = 0;
    Check(torch_list_get_item(list, i, &item), "list_get_item");
    tensors.emplace_back(HandleIn<AtenTensorHandle>(item));
  }
  Check(torch_delete_list(list), "delete_list");
  return tensors;
}

std::string Arguments::TakeString() {
  const auto handle = HandleIn<StringHandle>(*next_++);
  std::size_t length = 0;
  const char* data = nullptr;
  Check(torch_string_length(handle, &length), "string_length");
  Check(torch_string_c_str(handle, &data), "string_c_str");
  std::string text(data, length);
  Check(torch_delete_string(handle), "delete_string");
  return text;
}

double Arguments::TakeDouble() { return std::bit_cast<double>(*next_++); }

void Arguments::SkipIntList() {
  Check(torch_delete_list(HandleIn<StableListHandle>(*next_++)), "delete_list");
}

void Results::Put(std::vector<Tensor> tensors) {
  StableListHandle list = nullptr;
  Check(torch_new_list_reserve_size(tensors.size(), &list), "new_list");
  for (Tensor& tensor : tensors) {
    Check(torch_list_push_back(list, reinterpret_cast<StableIValue>(tensor.Release())),
          "list_push_back");
  }
  PutValue(reinterpret_cast<StableIValue>(list));
}

}  // namespace hvdx_torch

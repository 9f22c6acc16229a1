#include "integrations/torch/tensor.h"

#include <cstring>

#include "integrations/torch/errors.h"

namespace hvdx_torch {
namespace {

Shape ContiguousStrides(std::span<const std::int64_t> shape) {
  Shape strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    // As PyTorch has it: an empty dimension does not make the others' strides zero.
    stride *= shape[i] > 0 ? shape[i] : 1;
  }
  return strides;
}

}  // namespace

Tensor::~Tensor() {
  if (handle_ != nullptr) aoti_torch_delete_tensor_object(handle_);
}

Tensor& Tensor::operator=(Tensor&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}

Tensor Tensor::Empty(std::span<const std::int64_t> shape, std::int32_t dtype) {
  const Shape strides = ContiguousStrides(shape);
  AtenTensorHandle handle = nullptr;
  Check(aoti_torch_empty_strided(static_cast<std::int64_t>(shape.size()), shape.data(),
                                 strides.data(), dtype, aoti_torch_device_type_cpu(), 0, &handle),
        "empty_strided");
  return Tensor(handle);
}

Tensor Tensor::Clone() const {
  Tensor clone = EmptyLike();
  if (count() > 0) std::memcpy(clone.mutable_data(), data(), bytes());
  return clone;
}

Tensor Tensor::EmptyWithRows(std::int64_t rows) const {
  Shape to(shape().begin(), shape().end());
  if (to.empty()) Throw("a tensor without dimensions has no rows");
  to[0] = rows;
  return Empty(to, dtype());
}

std::span<const std::int64_t> Tensor::shape() const {
  std::int64_t ndim = 0;
  std::int64_t* sizes = nullptr;
  Check(aoti_torch_get_dim(handle_, &ndim), "get_dim");
  Check(aoti_torch_get_sizes(handle_, &sizes), "get_sizes");
  return {sizes, static_cast<std::size_t>(ndim)};
}

std::int64_t Tensor::count() const {
  std::int64_t count = 0;
  Check(aoti_torch_get_numel(handle_, &count), "get_numel");
  return count;
}

std::int32_t Tensor::dtype() const {
  std::int32_t dtype = 0;
  Check(aoti_torch_get_dtype(handle_, &dtype), "get_dtype");
  return dtype;
}

std::size_t Tensor::bytes() const {
  return static_cast<std::size_t>(count()) * aoti_torch_dtype_element_size(dtype());
}

const void* Tensor::data() const {
  const void* data = nullptr;
  Check(torch_get_const_data_ptr(handle_, &data), "get_const_data_ptr");
  return data;
}

void* Tensor::mutable_data() {
  void* data = nullptr;
  Check(torch_get_mutable_data_ptr(handle_, &data), "get_mutable_data_ptr");
  return data;
}

bool Tensor::on_cpu() const {
  std::int32_t type = 0;
  Check(aoti_torch_get_device_type(handle_, &type), "get_device_type");
  return type == aoti_torch_device_type_cpu();
}

bool Tensor::contiguous() const {
  bool contiguous = false;
  Check(aoti_torch_is_contiguous(handle_, &contiguous), "is_contiguous");
  return contiguous;
}

Tensor ScalarTensor(std::int64_t value) {
  Tensor tensor = Tensor::Empty({}, aoti_torch_dtype_int64());
  *static_cast<std::int64_t*>(tensor.mutable_data()) = value;
  return tensor;
}

}  // namespace hvdx_torch

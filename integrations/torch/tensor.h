// A reference to a tensor of PyTorch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "integrations/torch/stable_abi.h"

namespace hvdx_torch {

using Shape = std::vector<std::int64_t>;

class Tensor {
 public:
  Tensor() = default;
  // Takes over a handle.
  explicit Tensor(AtenTensorHandle handle) : handle_(handle) {}
  ~Tensor();
  Tensor(Tensor&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Tensor& operator=(Tensor&& other) noexcept;

  // In CPU memory, contiguous, with nothing in it yet.
  static Tensor Empty(std::span<const std::int64_t> shape, std::int32_t dtype);
  Tensor EmptyLike() const { return Empty(shape(), dtype()); }
  // A copy; this one is contiguous.
  Tensor Clone() const;
  // The same with another first dimension.
  Tensor EmptyWithRows(std::int64_t rows) const;

  bool defined() const { return handle_ != nullptr; }
  std::span<const std::int64_t> shape() const;
  std::int64_t count() const;
  std::int32_t dtype() const;
  std::size_t bytes() const;
  const void* data() const;
  void* mutable_data();
  bool on_cpu() const;
  bool contiguous() const;

  // Gives the handle away.
  AtenTensorHandle Release() { return std::exchange(handle_, nullptr); }

 private:
  AtenTensorHandle handle_ = nullptr;
};

// An int64 without dimensions.
Tensor ScalarTensor(std::int64_t value);

}  // namespace hvdx_torch

// Arguments and results of a kernel on PyTorch's stack.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "integrations/torch/stable_abi.h"
#include "integrations/torch/tensor.h"

namespace hvdx_torch {

// Takes the arguments of a call in the order of the schema. What is taken is owned; a kernel takes
// every argument before it does anything that may throw, or what is left leaks.
class Arguments {
 public:
  explicit Arguments(const StableIValue* stack) : next_(stack) {}

  Tensor TakeTensor();
  std::vector<Tensor> TakeTensors();
  std::string TakeString();
  std::int64_t TakeInt() { return static_cast<std::int64_t>(*next_++); }
  std::int32_t TakeInt32() { return static_cast<std::int32_t>(TakeInt()); }
  double TakeDouble();
  // For arguments that only the shape functions in Python read.
  void SkipIntList();
  void SkipNumber() { ++next_; }

 private:
  const StableIValue* next_;
};

// Puts results where the caller looks for them.
class Results {
 public:
  explicit Results(StableIValue* stack) : next_(stack) {}

  void Put(Tensor tensor) { PutValue(reinterpret_cast<StableIValue>(tensor.Release())); }
  void Put(std::vector<Tensor> tensors);
  void Put(std::int64_t number) { PutValue(static_cast<StableIValue>(number)); }

 private:
  void PutValue(StableIValue value) { *next_++ = value; }

  StableIValue* next_;
};

}  // namespace hvdx_torch

#include "integrations/torch/operation.h"

#include <exception>
#include <utility>

#include "integrations/torch/element_type.h"
#include "integrations/torch/errors.h"

namespace hvdx_torch {
namespace {

// A tensor without elements has no address; the engine wants one of memory it was given.
char no_bytes;

void* AddressOf(Tensor& tensor) {
  void* data = tensor.mutable_data();
  return data == nullptr ? &no_bytes : data;
}

}  // namespace

void Operation::CheckReadable(const Tensor& tensor, const std::string& name) {
  if (!tensor.on_cpu()) Throw("'" + name + "': Tensor is required to be on the CPU.");
  if (!tensor.contiguous()) Throw("'" + name + "': Tensor is required to be contiguous.");
}

Operation::Operation(std::int32_t kind, std::string name, std::int32_t process_set, Tensor input)
    : name_(std::move(name)), input_(std::move(input)) {
  CheckReadable(input_, name_);
  const auto shape = input_.shape();
  what_.struct_size = sizeof(what_);
  what_.kind = kind;
  what_.type = ElementTypeOf(input_.dtype());
  what_.process_set = process_set;
  what_.device = -1;
  what_.ndim = static_cast<std::int32_t>(shape.size());
  what_.shape = shape.data();
  what_.name = name_.c_str();
  what_.input = input_.data() == nullptr ? &no_bytes : input_.data();
}

void Operation::Reduce(const Reduction& how) {
  what_.op = how.op;
  what_.scaled = 1;
  what_.prescale = how.prescale;
  what_.postscale = how.postscale;
}

void Operation::SetSplits(std::vector<std::int32_t> splits) {
  splits_ = std::move(splits);
  what_.splits = splits_.data();
  what_.split_count = static_cast<std::int32_t>(splits_.size());
}

void Operation::WriteTo(Tensor output) {
  output_ = std::move(output);
  what_.output = AddressOf(output_);
}

void Operation::WriteToInput() { what_.output = AddressOf(input_); }

void Operation::WriteToNewTensor(std::int64_t rows) {
  rows_ = rows;
  what_.allocate = &Operation::Allocate;
  what_.context = this;
}

void* Operation::Allocate(void* context, std::int32_t ndim, const std::int64_t* shape) {
  try {
    return static_cast<Operation*>(context)->MakeOutput(Shape(shape, shape + ndim));
  } catch (const std::exception&) {
    return nullptr;  // the engine fails this operation
  }
}

void* Operation::MakeOutput(Shape shape) {
  rows_filled_ = shape[0];
  if (rows_ >= 0) {
    if (rows_filled_ > rows_) return nullptr;
    shape[0] = rows_;
  }
  output_ = Tensor::Empty(shape, input_.dtype());
  return AddressOf(output_);
}

}  // namespace hvdx_torch

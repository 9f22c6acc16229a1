// One collective of one tensor, and everything the engine needs until it is done with it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "horovodx/api/c_api.h"
#include "integrations/torch/tensor.h"

namespace hvdx_torch {

struct Reduction {
  std::int32_t op;
  double prescale;
  double postscale;
};

// Shared by the kernel that waits and by InFlight, which keeps it if the kernel stops waiting
// early: memory that the engine still uses stays.
class Operation {
 public:
  // Throws unless the engine can read the tensor as it lies in memory.
  static void CheckReadable(const Tensor& tensor, const std::string& name);

  // Throws unless the engine can read the tensor.
  Operation(std::int32_t kind, std::string name, std::int32_t process_set, Tensor input);
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  void Reduce(const Reduction& how);
  void SetRoot(std::int32_t root) { what_.root = root; }
  void SetSplits(std::vector<std::int32_t> splits);
  // Where the result goes: a tensor, the input itself, or one that is made when its size is known;
  // that one gets `rows` rows if `rows` >= 0, of which the engine fills the first.
  void WriteTo(Tensor output);
  void WriteToInput();
  void WriteToNewTensor(std::int64_t rows = -1);

  const std::string& name() const { return name_; }
  std::int32_t process_set() const { return what_.process_set; }
  // The tensor that was written to.
  Tensor& result() { return output_.defined() ? output_ : input_; }
  // Rows the engine filled of a new tensor.
  std::int64_t rows_filled() const { return rows_filled_; }
  const hvdx_submission& what() const { return what_; }

 private:
  static void* Allocate(void* context, std::int32_t ndim, const std::int64_t* shape);
  void* MakeOutput(Shape shape);

  const std::string name_;
  Tensor input_;
  Tensor output_;
  std::vector<std::int32_t> splits_;
  std::int64_t rows_ = -1;
  std::int64_t rows_filled_ = 0;
  hvdx_submission what_{};
};

using OperationPtr = std::shared_ptr<Operation>;

}  // namespace hvdx_torch

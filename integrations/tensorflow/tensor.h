// Tensors: TensorFlow's, owned; their types and shapes as the engine has them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "integrations/tensorflow/tf_c_api.h"

namespace hvdx_tf {

struct DeleteTensor {
  void operator()(TF_Tensor* tensor) const { TF_DeleteTensor(tensor); }
};
using Tensor = std::unique_ptr<TF_Tensor, DeleteTensor>;
using Shape = std::vector<std::int64_t>;

Shape ShapeOf(const TF_Tensor& tensor);
std::int64_t ElementsIn(const Shape& shape);
// An enum hvdx_type, or -1 for what the engine does not take.
std::int32_t ElementTypeOf(TF_DataType type);

}  // namespace hvdx_tf

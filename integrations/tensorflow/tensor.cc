#include "integrations/tensorflow/tensor.h"

#include <functional>
#include <numeric>

#include "horovodx/api/c_api.h"

namespace hvdx_tf {

Shape ShapeOf(const TF_Tensor& tensor) {
  Shape shape;
  for (int i = 0; i < TF_NumDims(&tensor); ++i) shape.push_back(TF_Dim(&tensor, i));
  return shape;
}

std::int64_t ElementsIn(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::int32_t ElementTypeOf(TF_DataType type) {
  switch (type) {
    case TF_FLOAT:
      return HVDX_FLOAT32;
    case TF_DOUBLE:
      return HVDX_FLOAT64;
    case TF_HALF:
      return HVDX_FLOAT16;
    case TF_BFLOAT16:
      return HVDX_BFLOAT16;
    case TF_INT64:
      return HVDX_INT64;
    case TF_INT32:
      return HVDX_INT32;
    case TF_INT16:
      return HVDX_INT16;
    case TF_INT8:
      return HVDX_INT8;
    case TF_UINT16:
      return HVDX_UINT16;
    case TF_UINT8:
      return HVDX_UINT8;
    case TF_BOOL:
      return HVDX_BOOL;
  }
  return -1;
}

}  // namespace hvdx_tf

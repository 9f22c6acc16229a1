#include "integrations/torch/element_type.h"

#include <algorithm>
#include <array>
#include <string>

#include "horovodx/api/c_api.h"
#include "integrations/torch/errors.h"
#include "integrations/torch/stable_abi.h"

namespace hvdx_torch {
namespace {

struct Pair {
  std::int32_t dtype;
  std::int32_t type;
};

const auto& Table() {
  static const std::array<Pair, 11> table = {{
      {aoti_torch_dtype_float32(), HVDX_FLOAT32},
      {aoti_torch_dtype_bfloat16(), HVDX_BFLOAT16},
      {aoti_torch_dtype_float16(), HVDX_FLOAT16},
      {aoti_torch_dtype_float64(), HVDX_FLOAT64},
      {aoti_torch_dtype_int64(), HVDX_INT64},
      {aoti_torch_dtype_int32(), HVDX_INT32},
      {aoti_torch_dtype_int16(), HVDX_INT16},
      {aoti_torch_dtype_int8(), HVDX_INT8},
      {aoti_torch_dtype_uint8(), HVDX_UINT8},
      {aoti_torch_dtype_uint16(), HVDX_UINT16},
      {aoti_torch_dtype_bool(), HVDX_BOOL},
  }};
  return table;
}

}  // namespace

std::int32_t ElementTypeOf(std::int32_t dtype) {
  const auto& table = Table();
  const auto it = std::find_if(table.begin(), table.end(),
                               [dtype](const Pair& pair) { return pair.dtype == dtype; });
  if (it == table.end()) {
    Throw("Tensor type " + std::to_string(dtype) + " (c10::ScalarType) is not supported.");
  }
  return it->type;
}

}  // namespace hvdx_torch

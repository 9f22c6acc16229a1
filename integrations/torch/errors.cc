#include "integrations/torch/errors.h"

#include <stdexcept>

#include "horovodx/api/c_api.h"

namespace hvdx_torch {

void ThrowInvalid(const std::string& message) { throw std::invalid_argument(message); }

void ThrowLast(std::int32_t status) {
  if (status == HVDX_INVALID_ARGUMENT) ThrowInvalid(hvdx_last_error());
  throw std::runtime_error(hvdx_last_error());
}

void Check(AOTITorchError error, const char* call) {
  if (error != 0) throw std::runtime_error(std::string("horovodx: PyTorch failed in ") + call);
}

}  // namespace hvdx_torch

#include "integrations/torch/errors.h"

#include <stdexcept>

#include "horovodx/api/c_api.h"

namespace hvdx_torch {

void Throw(const std::string& message) { throw std::runtime_error(message); }

void ThrowLast() { Throw(hvdx_last_error()); }

void Check(AOTITorchError error, const char* call) {
  if (error != 0) Throw(std::string("horovodx: PyTorch failed in ") + call);
}

}  // namespace hvdx_torch

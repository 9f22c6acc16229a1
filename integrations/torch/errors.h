// Errors leave a kernel as standard exceptions, as PyTorch's own STD_TORCH_CHECK does; PyTorch
// turns them into Python's.
#pragma once

#include <cstdint>
#include <string>

#include "integrations/torch/stable_abi.h"

namespace hvdx_torch {

[[noreturn]] void Throw(const std::string& message);
// With what the engine says about it: hvdx_last_error().
[[noreturn]] void ThrowLast();
// If a call of the stable ABI failed.
void Check(AOTITorchError error, const char* call);

}  // namespace hvdx_torch

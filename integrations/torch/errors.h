// Errors leave a kernel as standard exceptions, as PyTorch's own STD_TORCH_CHECK does; PyTorch
// turns them into Python's.
#pragma once

#include <cstdint>
#include <string>

#include "integrations/torch/stable_abi.h"

namespace hvdx_torch {

// The caller's mistake: ValueError.
[[noreturn]] void ThrowInvalid(const std::string& message);
// What the engine says about `status`, from hvdx_last_error(): ValueError for the caller's
// mistakes, RuntimeError for all else.
[[noreturn]] void ThrowLast(std::int32_t status);
// RuntimeError if a call of the stable ABI failed.
void Check(AOTITorchError error, const char* call);

}  // namespace hvdx_torch

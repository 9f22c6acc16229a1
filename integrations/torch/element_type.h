// From PyTorch's numbers for types to the engine's.
#pragma once

#include <cstdint>

namespace hvdx_torch {

// An enum hvdx_type; throws for a type the engine does not have.
std::int32_t ElementTypeOf(std::int32_t dtype);

}  // namespace hvdx_torch

// The operators as PyTorch calls them. library.cc has their schemas, in the order of the arguments.
#pragma once

#include <cstdint>

#include "integrations/torch/stable_abi.h"

namespace hvdx_torch {

#define HVDX_TORCH_KERNEL(name) \
  void name(StableIValue* stack, std::uint64_t inputs, std::uint64_t outputs)

HVDX_TORCH_KERNEL(AllreduceStart);
HVDX_TORCH_KERNEL(GroupedAllreduceStart);
HVDX_TORCH_KERNEL(AllreduceWait);
HVDX_TORCH_KERNEL(Allreduce);
HVDX_TORCH_KERNEL(AllreduceInPlace);
HVDX_TORCH_KERNEL(GroupedAllreduce);
HVDX_TORCH_KERNEL(Allgather);
HVDX_TORCH_KERNEL(AllgatherBackward);
HVDX_TORCH_KERNEL(Broadcast);
HVDX_TORCH_KERNEL(BroadcastInPlace);
HVDX_TORCH_KERNEL(BroadcastBackward);
HVDX_TORCH_KERNEL(Alltoall);
HVDX_TORCH_KERNEL(Reducescatter);
HVDX_TORCH_KERNEL(Barrier);
HVDX_TORCH_KERNEL(CountInFlight);

#undef HVDX_TORCH_KERNEL

}  // namespace hvdx_torch

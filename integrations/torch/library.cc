// torch.ops.horovodx: the schemas, and which kernel runs where. Loading the library registers them.
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iostream>

#include "integrations/torch/errors.h"
#include "integrations/torch/kernels.h"
#include "integrations/torch/stable_abi.h"

// Arguments that several operators share.
#define HVDX_HOW "str name, int op, float prescale, float postscale, int process_set"

namespace hvdx_torch {
namespace {

// The stable ABI of PyTorch 2.10: what these kernels understand.
constexpr std::uint64_t kAbiVersion = 0x020a'0000'0000'0000;

struct Operator {
  const char* name;
  const char* schema;
  StableKernel kernel;
};

// For tensors in CPU memory. python/horovodx/torch_ops says what each is for.
constexpr Operator kTensorOperators[] = {
    {"allreduce_start", "allreduce_start(Tensor tensor, " HVDX_HOW ") -> Tensor", AllreduceStart},
    {"grouped_allreduce_start",
     "grouped_allreduce_start(Tensor[] tensors, " HVDX_HOW ") -> Tensor[]", GroupedAllreduceStart},
    {"allreduce_wait", "allreduce_wait(Tensor ticket, SymInt[] size, ScalarType dtype) -> Tensor",
     AllreduceWait},
    {"allreduce", "allreduce(Tensor tensor, " HVDX_HOW ") -> Tensor", Allreduce},
    {"allreduce_", "allreduce_(Tensor(a!) tensor, " HVDX_HOW ") -> ()", AllreduceInPlace},
    {"grouped_allreduce", "grouped_allreduce(Tensor[] tensors, " HVDX_HOW ") -> Tensor[]",
     GroupedAllreduce},
    {"allgather", "allgather(Tensor tensor, str name, int process_set, SymInt rows=-1) -> Tensor",
     Allgather},
    {"allgather_backward",
     "allgather_backward(Tensor gradient, SymInt rows, str name, int process_set) -> Tensor",
     AllgatherBackward},
    {"broadcast", "broadcast(Tensor tensor, int root, str name, int process_set) -> Tensor",
     Broadcast},
    {"broadcast_", "broadcast_(Tensor(a!) tensor, int root, str name, int process_set) -> ()",
     BroadcastInPlace},
    {"broadcast_backward",
     "broadcast_backward(Tensor gradient, int root, str name, int process_set) -> Tensor",
     BroadcastBackward},
    {"alltoall",
     "alltoall(Tensor tensor, Tensor splits, str name, int process_set, SymInt rows=-1) "
     "-> (Tensor, Tensor)",
     Alltoall},
    {"reducescatter", "reducescatter(Tensor tensor, " HVDX_HOW ") -> Tensor", Reducescatter},
};

// Without tensors: wherever they are called.
constexpr Operator kOtherOperators[] = {
    {"barrier", "barrier(int process_set) -> Tensor", Barrier},
    {"count_in_flight", "count_in_flight() -> (int now, int most)", CountInFlight},
};

template <std::size_t n>
void Define(TorchLibraryHandle library, const Operator (&operators)[n]) {
  for (const Operator& each : operators) {
    Check(aoti_torch_library_def(library, each.schema), each.schema);
  }
}

template <std::size_t n>
void Implement(const char* dispatch_key, const Operator (&operators)[n]) {
  TorchLibraryHandle library = nullptr;
  Check(aoti_torch_library_init_impl("horovodx", dispatch_key, __FILE__, __LINE__, &library),
        dispatch_key);
  for (const Operator& each : operators) {
    Check(torch_library_impl(library, each.name, each.kernel, kAbiVersion), each.name);
  }
}

// The handles are never deleted: deleting one takes its operators away again.
void RegisterAll() {
  TorchLibraryHandle library = nullptr;
  Check(aoti_torch_library_init_def("horovodx", __FILE__, __LINE__, &library), "library_init_def");
  Define(library, kTensorOperators);
  Define(library, kOtherOperators);
  Implement("CPU", kTensorOperators);
  Implement("CompositeExplicitAutograd", kOtherOperators);
}

// No exception may leave a library that is being loaded. Whoever loads it sees what is missing.
[[maybe_unused]] const bool registered = [] {
  try {
    RegisterAll();
    return true;
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return false;
  }
}();

}  // namespace
}  // namespace hvdx_torch

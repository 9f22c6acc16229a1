// Which kernel runs where. Loading the library registers everything.
#include <cstdio>
#include <string_view>
#include <vector>

#include "horovodx/api/c_api.h"
#include "integrations/tensorflow/facts.h"
#include "integrations/tensorflow/kernel.h"
#include "integrations/tensorflow/op_definitions.h"
#include "integrations/tensorflow/self_test.h"
#include "integrations/tensorflow/status.h"

namespace hvdx_tf {
namespace {

using Create = void* (*)(TF_OpKernelConstruction*);
using Arguments = std::vector<const char*>;

const Arguments kOne = {"tensor", "result"};
const Arguments kSeveral = {"tensors", "results"};
const Arguments kValue = {"value"};

// On a GPU's node the tensors are in host memory, and TensorFlow copies.
void Register(const char* op, const char* device, TF_KernelBuilder* builder,
              const Arguments& arguments) {
  if (std::string_view(device) != "CPU") {
    for (const char* each : arguments) TF_KernelBuilder_HostMemory(builder, each);
  }
  Status status;
  TF_RegisterKernelBuilder(op, builder, status.get());
  if (!status.ok()) std::fprintf(stderr, "horovodx: %s: %s\n", op, status.message());
}

void RegisterCollective(const char* op, const char* device, Create create,
                        const Arguments& arguments) {
  Register(op, device, TF_NewAsyncKernelBuilder(op, device, create, Compute, DestroyKernel),
           arguments);
}

void RegisterFact(const char* op, const char* device, Create create,
                  void (*compute)(void*, TF_OpKernelContext*)) {
  Register(op, device, TF_NewKernelBuilder(op, device, create, compute, DestroyFact), kValue);
}

void RegisterKernels(const char* device) {
  RegisterCollective("HorovodAllreduce", device, CreateKernel<HVDX_ALLREDUCE, false>, kOne);
  RegisterCollective("HorovodGroupedAllreduce", device, CreateKernel<HVDX_ALLREDUCE, true>,
                     kSeveral);
  RegisterCollective("HorovodAllgather", device, CreateKernel<HVDX_ALLGATHER, false>, kOne);
  RegisterCollective("HorovodGroupedAllgather", device, CreateKernel<HVDX_ALLGATHER, true>,
                     kSeveral);
  RegisterCollective("HorovodBroadcast", device, CreateKernel<HVDX_BROADCAST, false>, kOne);
  RegisterCollective("HorovodAlltoall", device, CreateKernel<HVDX_ALLTOALL, false>,
                     {"tensor", "splits", "result", "received_splits"});
  RegisterCollective("HorovodReducescatter", device, CreateKernel<HVDX_REDUCESCATTER, false>, kOne);
  RegisterCollective("HorovodGroupedReducescatter", device, CreateKernel<HVDX_REDUCESCATTER, true>,
                     kSeveral);
  RegisterCollective("HorovodJoin", device, CreateKernel<HVDX_JOIN, false>, {"last_rank"});

  RegisterFact("HorovodSize", device, CreateFactOfSet, ComputeSize);
  RegisterFact("HorovodLocalSize", device, CreateFact, ComputeLocalSize);
  RegisterFact("HorovodRank", device, CreateFact, ComputeRank);
  RegisterFact("HorovodLocalRank", device, CreateFact, ComputeLocalRank);
  RegisterFact("HorovodProcessSetIncluded", device, CreateFactOfSet, ComputeIncluded);
}

__attribute__((constructor)) void RegisterAll() {
  DefineOps();
  RegisterKernels("CPU");
  RegisterKernels("GPU");
  Register("HorovodSelfTest", "CPU",
           TF_NewAsyncKernelBuilder("HorovodSelfTest", "CPU", CreateSelfTest, ComputeSelfTest,
                                    DestroySelfTest),
           kValue);
}

}  // namespace
}  // namespace hvdx_tf

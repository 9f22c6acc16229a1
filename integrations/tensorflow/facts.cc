#include "integrations/tensorflow/facts.h"

#include <cstdint>
#include <cstring>

#include "horovodx/api/c_api.h"
#include "integrations/tensorflow/status.h"
#include "integrations/tensorflow/tensor.h"

namespace hvdx_tf {
namespace {

struct About {
  std::int64_t process_set = 0;
};

int SetOf(const void* fact) {
  return static_cast<int>(static_cast<const About*>(fact)->process_set);
}

void Write(TF_OpKernelContext* context, std::int32_t value) {
  Status status;
  const Tensor output(
      TF_AllocateOutput(context, 0, TF_INT32, nullptr, 0, sizeof(value), status.get()));
  if (!status.ok()) {
    TF_OpKernelContext_Failure(context, status.get());
    return;
  }
  std::memcpy(TF_TensorData(output.get()), &value, sizeof(value));
}

// A negative answer means that there is none.
void WriteOrFail(TF_OpKernelContext* context, std::int32_t value) {
  if (value >= 0) {
    Write(context, value);
    return;
  }
  Status status;
  status.Set(TF_FAILED_PRECONDITION,
             horovod_is_initialized() != 0
                 ? "Process set provided does not exist, or has not been registered."
                 : "Horovod has not been initialized; use hvd.init().");
  TF_OpKernelContext_Failure(context, status.get());
}

}  // namespace

void* CreateFact(TF_OpKernelConstruction* /*construction*/) { return new About; }

void* CreateFactOfSet(TF_OpKernelConstruction* construction) {
  auto* about = new About;
  Status status;
  TF_OpKernelConstruction_GetAttrInt64(construction, "process_set_id", &about->process_set,
                                       status.get());
  if (!status.ok()) TF_OpKernelConstruction_Failure(construction, status.get());
  return about;
}

void DestroyFact(void* fact) { delete static_cast<About*>(fact); }

void ComputeSize(void* fact, TF_OpKernelContext* context) {
  WriteOrFail(context, horovod_process_set_size(SetOf(fact)));
}
void ComputeLocalSize(void* /*fact*/, TF_OpKernelContext* context) {
  WriteOrFail(context, horovod_local_size());
}
void ComputeRank(void* /*fact*/, TF_OpKernelContext* context) {
  WriteOrFail(context, horovod_rank());
}
void ComputeLocalRank(void* /*fact*/, TF_OpKernelContext* context) {
  WriteOrFail(context, horovod_local_rank());
}
// Also the codes of what is wrong: HOROVOD_PROCESS_SET_ERROR_*.
void ComputeIncluded(void* fact, TF_OpKernelContext* context) {
  Write(context, horovod_process_set_included(SetOf(fact)));
}

}  // namespace hvdx_tf

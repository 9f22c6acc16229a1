#include "integrations/tensorflow/kernel.h"

#include "horovodx/api/c_api.h"
#include "integrations/tensorflow/operation.h"
#include "integrations/tensorflow/status.h"

namespace hvdx_tf {
namespace {

// Attributes of a node; the first one missing is remembered.
class Attributes {
 public:
  explicit Attributes(TF_OpKernelConstruction* construction) : construction_(construction) {}

  std::int32_t Int(const char* name) {
    std::int64_t value = 0;
    if (status_.ok()) {
      TF_OpKernelConstruction_GetAttrInt64(construction_, name, &value, status_.get());
    }
    return static_cast<std::int32_t>(value);
  }
  float Float(const char* name) {
    float value = 1.0f;
    if (status_.ok()) {
      TF_OpKernelConstruction_GetAttrFloat(construction_, name, &value, status_.get());
    }
    return value;
  }
  bool Bool(const char* name) {
    unsigned char value = 0;
    if (status_.ok()) {
      TF_OpKernelConstruction_GetAttrBool(construction_, name, &value, status_.get());
    }
    return value != 0;
  }
  std::string NodeName() const {
    const TF_StringView name = TF_OpKernelConstruction_GetName(construction_);
    return std::string(name.data, name.len);
  }
  Status& status() { return status_; }

 private:
  TF_OpKernelConstruction* construction_;
  Status status_;
};

std::string WithoutScope(const std::string& name) {
  return name.substr(name.rfind('/') + 1);  // all of it if there is none
}

bool Reduces(int kind) { return kind == HVDX_ALLREDUCE || kind == HVDX_REDUCESCATTER; }

}  // namespace

void* ReadKernel(TF_OpKernelConstruction* construction, int kind, bool grouped) {
  Attributes attributes(construction);
  auto* kernel = new Kernel;
  kernel->kind = kind;
  kernel->grouped = grouped;
  kernel->name = attributes.NodeName();
  if (kind != HVDX_JOIN) {
    kernel->process_set = attributes.Int("process_set_id");
    if (attributes.Bool("ignore_name_scope")) kernel->name = WithoutScope(kernel->name);
  }
  if (Reduces(kind)) {
    kernel->op = attributes.Int("reduce_op");
    kernel->prescale = attributes.Float("prescale_factor");
    kernel->postscale = attributes.Float("postscale_factor");
  }
  if (kind == HVDX_BROADCAST) kernel->root = attributes.Int("root_rank");
  if (!attributes.status().ok()) {
    TF_OpKernelConstruction_Failure(construction, attributes.status().get());
  }
  return kernel;
}

void DestroyKernel(void* kernel) { delete static_cast<Kernel*>(kernel); }

void Compute(void* kernel, TF_OpKernelContext* context, TF_AsyncOpKernelDoneCallback* done) {
  Operation::Run(*static_cast<const Kernel*>(kernel), context, done);
}

std::string MemberName(const Kernel& kernel, int i, int n) {
  if (!kernel.grouped) return kernel.name;
  return kernel.name + "_" + std::to_string(i + 1) + "of" + std::to_string(n);
}

}  // namespace hvdx_tf

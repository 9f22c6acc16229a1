// Allreduce as a custom call of XLA on the CPU, for functions with jit_compile=True.
//
// One call reduces a group of tensors and blocks until they are reduced: XLA runs its custom calls
// one after the other anyway. XLA's interface is found by a name that TensorFlow does not promise,
// so all this is optional: hvdx_tf_register_xla() says whether it is there.
#include <dlfcn.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "horovodx/api/c_api.h"
#include "integrations/tensorflow/in_flight.h"
#include "integrations/tensorflow/looking_inside.h"
#include "integrations/tensorflow/status.h"
#include "integrations/tensorflow/xla_ffi.h"

namespace hvdx_tf {
namespace {

constexpr int kMetadata = 1;
constexpr int kExecute = 3;
constexpr int kScalar = 3;
constexpr int kString = 4;
constexpr int kMajor = 0;
constexpr int kMinor = 1;
constexpr std::size_t kSmallest = 88;  // of an XLA_FFI_Api that is laid out as ours

// An enum hvdx_type for XLA's number of a type, or -1.
std::int32_t ElementTypeOfXla(int type) {
  switch (type) {
    case 2:
      return HVDX_INT8;
    case 4:
      return HVDX_INT32;
    case 5:
      return HVDX_INT64;
    case 6:
      return HVDX_UINT8;
    case 10:
      return HVDX_FLOAT16;
    case 11:
      return HVDX_FLOAT32;
    case 12:
      return HVDX_FLOAT64;
    case 16:
      return HVDX_BFLOAT16;
    default:
      return -1;
  }
}

// What the call was made with; Python writes all of it.
struct How {
  std::string name;
  std::int64_t op = HVDX_SUM;
  std::int64_t process_set = 0;
  double prescale = 1.0;
  double postscale = 1.0;
};

template <typename T>
void Read(const void* attribute, T& value) {
  std::memcpy(&value, static_cast<const XLA_FFI_Scalar*>(attribute)->value, sizeof(value));
}

How ReadHow(const XLA_FFI_Attrs& attributes) {
  How how;
  for (std::int64_t i = 0; i < attributes.size; ++i) {
    const std::string_view name(attributes.names[i]->ptr, attributes.names[i]->len);
    const void* attribute = attributes.attrs[i];
    if (attributes.types[i] == kString && name == "name") {
      const auto* text = static_cast<const XLA_FFI_ByteSpan*>(attribute);
      how.name.assign(text->ptr, text->len);
    }
    if (attributes.types[i] != kScalar) continue;
    if (name == "op") Read(attribute, how.op);
    if (name == "process_set") Read(attribute, how.process_set);
    if (name == "prescale") Read(attribute, how.prescale);
    if (name == "postscale") Read(attribute, how.postscale);
  }
  return how;
}

hvdx_submission Describe(const How& how, const std::string& name, const XLA_FFI_Buffer& input,
                         const XLA_FFI_Buffer& output) {
  hvdx_submission s{};
  s.struct_size = sizeof(s);
  s.kind = HVDX_ALLREDUCE;
  s.type = ElementTypeOfXla(input.dtype);
  s.op = static_cast<std::int32_t>(how.op);
  s.process_set = static_cast<std::int32_t>(how.process_set);
  s.device = -1;
  s.ndim = static_cast<std::int32_t>(input.rank);
  s.shape = input.dims;
  s.name = name.c_str();
  s.scaled = 1;
  s.prescale = how.prescale;
  s.postscale = how.postscale;
  s.input = input.data;
  s.output = output.data;
  return s;
}

std::int32_t WaitForAll(const std::vector<hvdx_handle>& handles, std::string& why) {
  std::int32_t first = HVDX_OK;
  for (const hvdx_handle handle : handles) {
    const std::int32_t status = hvdx_wait(handle, -1);
    if (status != HVDX_OK && first == HVDX_OK) {
      first = status;
      why = hvdx_last_error();
    }
    hvdx_release(handle);
  }
  return first;
}

std::int32_t Reduce(const XLA_FFI_CallFrame& frame, std::string& why) {
  const How how = ReadHow(frame.attrs);
  const auto n = static_cast<std::size_t>(frame.args.size);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < n; ++i) {
    names.push_back(how.name + "_" + std::to_string(i + 1) + "of" + std::to_string(n));
  }
  std::vector<hvdx_submission> all;
  for (std::size_t i = 0; i < n; ++i) {
    all.push_back(Describe(how, names[i], *static_cast<XLA_FFI_Buffer*>(frame.args.buffers[i]),
                           *static_cast<XLA_FFI_Buffer*>(frame.rets.buffers[i])));
  }
  std::vector<hvdx_handle> handles(n);
  const std::int32_t status =
      hvdx_submit_group(all.data(), static_cast<std::int32_t>(n), handles.data());
  if (status != HVDX_OK) {
    why = hvdx_last_error();
    return status;
  }
  return WaitForAll(handles, why);
}

bool AnswersMetadata(const XLA_FFI_CallFrame& frame) {
  for (auto* each = frame.extension_start; each != nullptr; each = each->next) {
    if (each->type != kMetadata) continue;
    auto* version = &reinterpret_cast<XLA_FFI_Metadata_Extension*>(each)->metadata->api_version;
    version->major_version = kMajor;
    version->minor_version = kMinor;
    return true;
  }
  return false;
}

XLA_FFI_Error* Allreduce(XLA_FFI_CallFrame* frame) {
  if (AnswersMetadata(*frame) || frame->stage != kExecute) return nullptr;
  InFlight::Enter();
  std::string why;
  const std::int32_t status = Reduce(*frame, why);
  InFlight::Leave();
  if (status == HVDX_OK) return nullptr;
  XLA_FFI_Error_Create_Args error{sizeof(error), nullptr, why.c_str(), CodeFor(status)};
  return frame->api->XLA_FFI_Error_Create(&error);
}

const XLA_FFI_Api* FindApi() {
  void* library = dlopen("libtensorflow_cc.so.2", RTLD_NOLOAD | RTLD_LAZY);
  if (library == nullptr) return nullptr;
  using Getter = const XLA_FFI_Api* (*)();
  const auto get = reinterpret_cast<Getter>(dlsym(library, "_ZN3xla3ffi12GetXlaFfiApiEv"));
  const XLA_FFI_Api* api = get == nullptr ? nullptr : get();
  // TensorFlow 2.17 has another one: smaller, and not to be looked into.
  return api == nullptr || api->struct_size < kSmallest ? nullptr : api;
}

bool RegisterXla() {
  const XLA_FFI_Api* api = FindApi();
  if (api == nullptr || api->api_version.major_version != kMajor) return false;
  constexpr std::string_view name = "horovodx_allreduce";
  constexpr std::string_view platform = "Host";
  XLA_FFI_Handler_Register_Args handler{};
  handler.struct_size = sizeof(handler) - sizeof(std::uint32_t);  // without the padding at the end
  handler.name = {name.data(), name.size()};
  handler.platform = {platform.data(), platform.size()};
  handler.execute = Allreduce;
  return api->XLA_FFI_Handler_Register(&handler) == nullptr;
}

}  // namespace
}  // namespace hvdx_tf

extern "C" int hvdx_tf_register_xla() {
  static const bool there = hvdx_tf::RegisterXla();
  return there ? 1 : 0;
}

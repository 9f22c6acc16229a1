#include "horovodx/tls/openssl.h"

#include <dlfcn.h>

#include <atomic>
#include <iterator>
#include <memory>
#include <vector>

#include "horovodx/base/check.h"
#include "horovodx/base/mutex.h"

namespace horovodx::tls::openssl {
namespace {

constexpr const char* kSonames[] = {"libssl.so.3", "libssl.so.1.1"};

Mutex& LoadLock() {
  static auto* mutex = new Mutex;
  return *mutex;
}
std::atomic<const Calls*>& Loaded() {
  static std::atomic<const Calls*> calls{nullptr};
  return calls;
}

std::string PlaceOfThisLibrary() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&PlaceOfThisLibrary), &info) == 0) return "";
  const std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}

std::vector<std::string> Candidates(const std::string& given) {
  if (!given.empty()) return {given};
  // Two versions of it in one process would only cost memory.
  for (const char* name : kSonames) {
    if (void* there = ::dlopen(name, RTLD_LAZY | RTLD_NOLOAD); there != nullptr) {
      ::dlclose(there);
      return {name};
    }
  }
  std::vector<std::string> names(std::begin(kSonames), std::end(kSonames));
  // Beside Python, where conda has it: <prefix>/lib/pythonX/site-packages/horovodx/.
  names.push_back(PlaceOfThisLibrary() + "../../../" + kSonames[0]);
  return names;
}

bool Resolve(void* file, Calls& calls, std::string& missing) {
  // libcrypto's names are found too: libssl needs it, and dlsym looks there as well.
#define HVDX_RESOLVE_CALL(name, result, arguments)                                         \
  if (missing.empty()) {                                                                   \
    calls.name = reinterpret_cast<result(*) arguments>(::dlsym(file, #name)); /* NOLINT */ \
    if (calls.name == nullptr) missing = #name;                                            \
  }
  HVDX_OPENSSL_CALLS(HVDX_RESOLVE_CALL)
#undef HVDX_RESOLVE_CALL
  return missing.empty();
}

Result<const Calls*> Open(const std::string& name) {
  void* file = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (file == nullptr) {
    const char* why = ::dlerror();
    return Status::InvalidArgument(why != nullptr ? why : name + " cannot be opened");
  }
  auto calls = std::make_unique<Calls>();
  std::string missing;
  if (!Resolve(file, *calls, missing)) {
    return Status::InvalidArgument(name + " has no " + missing + ": OpenSSL 1.1.1 or 3 is needed");
  }
  // Connections may outlive main(); whoever else has started OpenSSL decides for itself.
  if (calls->OPENSSL_init_ssl(kInitNoAtExit, nullptr) != 1) {
    return Status::InvalidArgument(name + " does not start");
  }
  return calls.release();  // for good, as the library
}

}  // namespace

Result<const Calls*> Load(const std::string& given) {
  MutexLock lock(LoadLock());
  if (const Calls* calls = Loaded().load(std::memory_order_acquire); calls != nullptr) return calls;
  std::string tried;
  for (const std::string& name : Candidates(given)) {
    Result<const Calls*> calls = Open(name);
    if (calls.ok()) {
      Loaded().store(calls.value(), std::memory_order_release);
      return calls;
    }
    tried += (tried.empty() ? "" : "; ") + calls.status().message();
  }
  return Status::InvalidArgument(
      "HOROVODX_TLS=1 needs OpenSSL (libssl.so.3, in Debian's package libssl3), which cannot be "
      "used here: " +
      tried + ". HOROVODX_TLS_LIBRARY may name it");
}

const Calls& Call() {
  const Calls* calls = Loaded().load(std::memory_order_acquire);
  HVDX_CHECK(calls != nullptr);
  return *calls;
}

std::string TakeError() {
  const unsigned long error = Call().ERR_get_error();
  const char* reason = error == 0 ? nullptr : Call().ERR_reason_error_string(error);
  std::string text = reason != nullptr ? reason : "error " + std::to_string(error);
  Call().ERR_clear_error();
  return text;
}

}  // namespace horovodx::tls::openssl

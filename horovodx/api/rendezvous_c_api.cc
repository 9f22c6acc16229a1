// hvdx_rendezvous_*: the store that a launcher runs.
#include <memory>
#include <string>

#include "horovodx/api/c_api.h"
#include "horovodx/api/last_error.h"
#include "horovodx/base/hex.h"
#include "horovodx/base/mutex.h"
#include "horovodx/rendezvous/store_server.h"

namespace {

using horovodx::Mutex;
using horovodx::MutexLock;
using horovodx::Status;
using horovodx::api::Remember;
using horovodx::rendezvous::StoreServer;

struct Running {
  Mutex mutex;
  std::unique_ptr<StoreServer> server HVDX_GUARDED_BY(mutex);
};

Running& TheServer() {
  static auto* running = new Running;  // never destroyed, as the process's engine
  return *running;
}

}  // namespace

extern "C" {

int32_t hvdx_rendezvous_start(const char* address, int32_t port, const char* secret,
                              const char* job_id) {
  const auto key = horovodx::BytesFromHex(secret == nullptr ? "" : secret);
  if (!key || key->size() != 32) {
    return -Remember(
        Status::InvalidArgument("hvdx_rendezvous_start: the secret must be 64 hexadecimal digits"));
  }
  if (address == nullptr || job_id == nullptr || port < 0 || port > 65535) {
    return -Remember(Status::InvalidArgument(
        "hvdx_rendezvous_start: needs an address, a port from 0 to 65535 and a job id"));
  }
  Running& running = TheServer();
  MutexLock lock(running.mutex);
  if (running.server != nullptr) {
    return -Remember(Status::Precondition("hvdx_rendezvous_start: it runs already"));
  }
  auto server = StoreServer::Start(address, static_cast<std::uint16_t>(port), *key, job_id);
  if (!server.ok()) return -Remember(server.status());
  running.server = std::move(server).value();
  return running.server->port();
}

void hvdx_rendezvous_stop(void) {
  Running& running = TheServer();
  MutexLock lock(running.mutex);
  running.server = nullptr;
}

}  // extern "C"

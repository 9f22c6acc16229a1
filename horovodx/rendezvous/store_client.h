// StoreClient: a job's store as seen from one process. See store_server.h for the other end.
//
// Thread: any; several threads may call at once. Each call has a connection for itself while it
// lasts (one thread's long Get must not keep another's Set from happening), and idle connections
// are kept for the next call.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "horovodx/base/fd.h"
#include "horovodx/base/frame.h"
#include "horovodx/base/handshake.h"
#include "horovodx/base/mutex.h"
#include "horovodx/base/socket.h"
#include "horovodx/rendezvous/store.h"
#include "horovodx/rendezvous/store_request.h"

namespace horovodx::rendezvous {

class StoreClient : public Store {
 public:
  // Connects and shakes hands. `rank` (-1: not a rank) is only told, for the server's log. A server
  // that is not there yet gets three chances, half a second apart.
  static Result<std::unique_ptr<StoreClient>> Connect(const Address& server,
                                                      const Credentials& credentials, int rank,
                                                      const Deadline& deadline);

  // Keys up to 1 KiB, values up to 1 MiB. The server has ten seconds to confirm.
  Status Set(const std::string& key, const std::string& value) override HVDX_EXCLUDES(mutex_);
  // The value, or why there is none: nobody set it before the deadline, or the server is gone
  // (known at once when its process dies, within seconds when its host vanishes).
  Result<std::string> Get(const std::string& key, const Deadline& deadline) override
      HVDX_EXCLUDES(mutex_);
  // Not for all keys: the prefix is not empty. The server has ten seconds to confirm.
  Status Forget(const std::string& prefix) override HVDX_EXCLUDES(mutex_);

 private:
  StoreClient(Address server, Credentials credentials, int rank)
      : server_(std::move(server)), credentials_(std::move(credentials)), rank_(rank) {}

  Result<Fd> Dial(const Deadline& deadline) const;
  Result<Fd> Borrow(const Deadline& deadline) HVDX_EXCLUDES(mutex_);
  void GiveBack(Fd fd) HVDX_EXCLUDES(mutex_);
  // One request, one answer. After an error the connection is closed.
  Result<Frame> Ask(const StoreRequest& request, const Deadline& deadline) HVDX_EXCLUDES(mutex_);
  Result<Frame> Exchange(int fd, Frame request, const Deadline& deadline) const;
  Status Error(const std::string& what) const;

  const Address server_;
  const Credentials credentials_;
  const int rank_;
  Mutex mutex_;
  std::vector<Fd> idle_ HVDX_GUARDED_BY(mutex_);
};

}  // namespace horovodx::rendezvous

// Acceptor: this rank's door. Who passes the handshake, and TLS if the job has it, is taken to the
// courier or to its link.
//
// Sockets may come before anybody here asks for them; they are kept. Thread: as said; the io thread
// does the work.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "horovodx/base/doorman.h"
#include "horovodx/transport/tcp/berth.h"
#include "horovodx/transport/tcp/io_loop.h"
#include "horovodx/transport/tcp/secure.h"

namespace horovodx::transport::tcp {

struct AcceptorOptions {
  Address where;  // port 0: any
  Credentials credentials;
  int rank = 0;
  Duration handshake_limit = kHandshakeLimit;
  std::size_t most_strangers = 256;
  std::shared_ptr<const tls::Context> tls = nullptr;  // null: the job has none
};

// A rank that has come in, and what for.
struct Arrival {
  Connection connection;
  Claims claims;
};

class Acceptor {
 public:
  // `io` is borrowed and outlives the acceptor.
  static Result<std::unique_ptr<Acceptor>> Start(IoLoop& io, const AcceptorOptions& options);
  ~Acceptor();

  // Where the others reach this rank: what goes into the store.
  const Address& address() const { return doorman_->address(); }

  // Io thread. From now on control connections go to `take`, those waiting at once; an empty
  // function keeps them again.
  using TakeCall = std::function<void(Arrival call)>;
  void SetCourierOnIo(TakeCall take);

  // Any thread. Where the link of `channel` from rank `from` arrives or will arrive.
  std::shared_ptr<Berth> BerthOf(std::uint32_t channel, int from) HVDX_EXCLUDES(mutex_);
  // Any thread. The link is done with; what still comes for it will not be found.
  void Forget(std::uint32_t channel, int from) HVDX_EXCLUDES(mutex_);

 private:
  Acceptor(IoLoop& io, const AcceptorOptions& options)
      : io_(io), tls_(options.tls), handshake_limit_(options.handshake_limit) {}
  void WelcomeOnIo(Guest guest);
  Status SecureOnIo(Guest guest);
  void LeadInOnIo(Arrival arrival);

  IoLoop& io_;
  const std::shared_ptr<const tls::Context> tls_;
  const Duration handshake_limit_;
  TakeCall take_call_;            // io thread
  std::vector<Arrival> waiting_;  // io thread: control connections nobody has taken yet
  std::set<std::shared_ptr<Secure>> securing_;  // io thread: not in yet
  Mutex mutex_;
  std::map<std::pair<std::uint32_t, int>, std::shared_ptr<Berth>> berths_ HVDX_GUARDED_BY(mutex_);
  std::unique_ptr<Doorman> doorman_;
};

}  // namespace horovodx::transport::tcp

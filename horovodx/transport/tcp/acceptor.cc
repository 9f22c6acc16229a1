#include "horovodx/transport/tcp/acceptor.h"

#include "horovodx/base/check.h"
#include "horovodx/base/log.h"

namespace horovodx::transport::tcp {
namespace {

void LogDropped(int from, const Status& why) {
  HVDX_LOG(kWarning) << "dropped a connection of rank " << from << ": " << why.message();
}

// A rank that ends while it connects is nothing to warn of.
void LogNotSecured(int from, const Status& why) {
  if (why.code() != StatusCode::kUnknown) return LogDropped(from, why);
  HVDX_LOG(kInfo) << "dropped a connection of rank " << from << ": " << why.message();
}

}  // namespace

Result<std::unique_ptr<Acceptor>> Acceptor::Start(IoLoop& io, const AcceptorOptions& options) {
  std::unique_ptr<Acceptor> acceptor(new Acceptor(io, options));
  DoormanOptions door;
  door.where = options.where;
  door.credentials = options.credentials;
  door.rank = options.rank;
  door.accepts = MaskOf(Purpose::kCourier) | MaskOf(Purpose::kLink);
  door.limit = options.handshake_limit;
  door.most_strangers = options.most_strangers;
  door.tls = options.tls != nullptr;
  const auto welcome = [self = acceptor.get()](Guest guest) {
    self->WelcomeOnIo(std::move(guest));
  };
  HVDX_ASSIGN_OR_RETURN(acceptor->doorman_, Doorman::Open(io.loop(), door, welcome));
  return acceptor;
}

Acceptor::~Acceptor() {
  doorman_.reset();
  io_.loop().Run([this] {
    for (const auto& secure : std::exchange(securing_, {})) secure->CancelOnLoop();
  });
}

void Acceptor::SetCourierOnIo(TakeCall take) {
  HVDX_DCHECK(io_.loop().OnLoop());
  take_call_ = std::move(take);
  if (!take_call_) return;
  std::vector<Arrival> waiting = std::move(waiting_);
  waiting_.clear();
  for (Arrival& call : waiting) take_call_(std::move(call));
}

std::shared_ptr<Berth> Acceptor::BerthOf(std::uint32_t channel, int from) {
  MutexLock lock(mutex_);
  std::shared_ptr<Berth>& berth = berths_[{channel, from}];
  if (berth == nullptr) berth = std::make_shared<Berth>(io_.bell());
  return berth;
}

void Acceptor::Forget(std::uint32_t channel, int from) {
  MutexLock lock(mutex_);
  berths_.erase({channel, from});
}

void Acceptor::WelcomeOnIo(Guest guest) {
  HVDX_DCHECK(io_.loop().OnLoop());
  if (tls_ == nullptr) return LeadInOnIo({Connection(std::move(guest.fd)), guest.claims});
  const int from = guest.claims.from;
  if (const Status status = SecureOnIo(std::move(guest)); !status.ok()) LogDropped(from, status);
}

Status Acceptor::SecureOnIo(Guest guest) {
  HVDX_DCHECK(io_.loop().OnLoop());
  HVDX_ASSIGN_OR_RETURN(auto session, tls::Session::Make(tls_, std::move(guest.fd),
                                                         tls::End::kAcceptor, guest.binding));
  // Done is not called before the place is filled.
  auto place = std::make_shared<std::weak_ptr<Secure>>();
  const auto done = [this, place, claims = guest.claims](Result<Connection> connection) {
    securing_.erase(place->lock());
    if (!connection.ok()) return LogNotSecured(claims.from, connection.status());
    LeadInOnIo({std::move(*connection), claims});
  };
  const auto secure = Secure::StartOnLoop(io_.loop(), std::move(session), guest.address.ToString(),
                                          Deadline::After(handshake_limit_), done);
  *place = secure;
  securing_.insert(secure);
  return Status::Ok();
}

void Acceptor::LeadInOnIo(Arrival arrival) {
  HVDX_DCHECK(io_.loop().OnLoop());
  if (arrival.claims.purpose == Purpose::kCourier) {
    if (take_call_) return take_call_(std::move(arrival));
    waiting_.push_back(std::move(arrival));
    return;
  }
  const Claims& claims = arrival.claims;
  const Status status = BerthOf(claims.channel, claims.from)
                            ->Deposit(claims.stream, claims.streams, std::move(arrival.connection));
  if (!status.ok()) LogDropped(claims.from, status);
}

}  // namespace horovodx::transport::tcp

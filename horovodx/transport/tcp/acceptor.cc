#include "horovodx/transport/tcp/acceptor.h"

#include "horovodx/base/check.h"
#include "horovodx/base/log.h"

namespace horovodx::transport::tcp {

Result<std::unique_ptr<Acceptor>> Acceptor::Start(IoLoop& io, const AcceptorOptions& options) {
  std::unique_ptr<Acceptor> acceptor(new Acceptor(io));
  DoormanOptions door;
  door.where = options.where;
  door.credentials = options.credentials;
  door.rank = options.rank;
  door.accepts = MaskOf(Purpose::kCourier) | MaskOf(Purpose::kLink);
  door.limit = options.handshake_limit;
  door.most_strangers = options.most_strangers;
  const auto welcome = [self = acceptor.get()](Guest guest) {
    self->WelcomeOnIo(std::move(guest));
  };
  HVDX_ASSIGN_OR_RETURN(acceptor->doorman_, Doorman::Open(io.loop(), door, welcome));
  return acceptor;
}

Acceptor::~Acceptor() { doorman_.reset(); }

void Acceptor::SetCourierOnIo(TakeCall take) {
  HVDX_DCHECK(io_.loop().OnLoop());
  take_call_ = std::move(take);
  if (!take_call_) return;
  std::vector<Guest> waiting = std::move(waiting_);
  waiting_.clear();
  for (Guest& call : waiting) take_call_(std::move(call));
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
  if (guest.claims.purpose == Purpose::kCourier) {
    if (take_call_) return take_call_(std::move(guest));
    waiting_.push_back(std::move(guest));
    return;
  }
  const Claims& claims = guest.claims;
  const Status status = BerthOf(claims.channel, claims.from)
                            ->Deposit(claims.stream, claims.streams, std::move(guest.fd));
  if (!status.ok()) {
    HVDX_LOG(kWarning) << "dropped a connection of rank " << claims.from << ": "
                       << status.message();
  }
}

}  // namespace horovodx::transport::tcp

#include "horovodx/base/doorman.h"

#include <sys/epoll.h>

#include <utility>

#include "horovodx/base/check.h"
#include "horovodx/base/log.h"

namespace horovodx {
namespace {

std::uint32_t EventsFor(const Handshake& handshake) {
  return (handshake.wanted() > 0 ? EPOLLIN : 0u) | (handshake.output().empty() ? 0u : EPOLLOUT);
}

}  // namespace

Result<std::unique_ptr<Doorman>> Doorman::Open(EventLoop& loop, DoormanOptions options,
                                               Welcome welcome) {
  HVDX_RETURN_IF_ERROR(CheckCredentials(options.credentials));
  HVDX_ASSIGN_OR_RETURN(Fd listener, ListenOn(options.where));
  HVDX_ASSIGN_OR_RETURN(Address address, LocalAddressOf(listener.get()));
  std::unique_ptr<Doorman> doorman(new Doorman(loop, std::move(options), std::move(welcome),
                                               std::move(listener), std::move(address)));
  Status status;
  loop.Run([&, self = doorman.get()] {
    status = loop.Add(self->listener_.get(), EPOLLIN, [self](auto) { self->AcceptOnLoop(); });
  });
  HVDX_RETURN_IF_ERROR(status);
  return doorman;
}

Doorman::Doorman(EventLoop& loop, DoormanOptions options, Welcome welcome, Fd listener,
                 Address address)
    : loop_(loop),
      options_(std::move(options)),
      welcome_(std::move(welcome)),
      listener_(std::move(listener)),
      address_(std::move(address)) {}

Doorman::~Doorman() {
  loop_.Run([this] {
    loop_.Cancel(pause_);
    loop_.Remove(listener_.get());
    while (!strangers_.empty()) DropOnLoop(strangers_.begin()->first);
  });
}

void Doorman::AcceptOnLoop() {
  HVDX_DCHECK(loop_.OnLoop());
  // A few at a time: others on this loop want their turn too.
  for (int i = 0; i < 16; ++i) {
    Result<Fd> accepted = AcceptFrom(listener_.get());
    if (!accepted.ok()) {
      // Out of descriptors: strangers are the first to go, then the door stays shut for a moment.
      HVDX_LOG(kWarning) << accepted.status().message();
      if (strangers_.empty()) return PauseOnLoop();
      return DropOnLoop(strangers_.begin()->first);
    }
    if (!accepted->valid()) return;
    if (const Status status = GreetOnLoop(std::move(*accepted)); !status.ok()) {
      HVDX_LOG(kWarning) << status.message();
    }
  }
}

void Doorman::PauseOnLoop() {
  HVDX_DCHECK(loop_.OnLoop());
  loop_.Change(listener_.get(), 0);
  pause_ = loop_.At(Clock::now() + std::chrono::milliseconds(100),
                    [this] { loop_.Change(listener_.get(), EPOLLIN); });
}

Status Doorman::GreetOnLoop(Fd fd) {
  HVDX_DCHECK(loop_.OnLoop());
  Result<Address> address = PeerAddressOf(fd.get());
  if (!address.ok()) return Status::Ok();  // gone already
  HVDX_ASSIGN_OR_RETURN(const Nonce nonce, FreshNonce());
  if (strangers_.size() >= options_.most_strangers) DropOnLoop(strangers_.begin()->first);
  const Number number = next_++;
  Stranger stranger{
      std::move(fd),
      Handshake::Accept(options_.rank, options_.accepts, options_.credentials, nonce,
                        address->ToString(), options_.tls),
      *address,
      {},
  };
  HVDX_RETURN_IF_ERROR(loop_.Add(stranger.fd.get(), EventsFor(stranger.handshake),
                                 [this, number](auto) { StepOnLoop(number); }));
  stranger.timer = loop_.At(Clock::now() + options_.limit, [this, number] {
    strangers_.at(number).handshake.TimedOut();
    StepOnLoop(number);
  });
  strangers_.emplace(number, std::move(stranger));
  StepOnLoop(number);  // most likely the challenge goes out at once
  return Status::Ok();
}

void Doorman::StepOnLoop(Number number) {
  HVDX_DCHECK(loop_.OnLoop());
  Stranger& stranger = strangers_.at(number);
  StepHandshake(stranger.fd.get(), stranger.handshake);
  if (!stranger.handshake.finished()) {
    return loop_.Change(stranger.fd.get(), EventsFor(stranger.handshake));
  }
  if (!stranger.handshake.status().ok()) return DropOnLoop(number);
  Guest guest{Fd(), stranger.handshake.claims(), stranger.address, stranger.handshake.Binding()};
  loop_.Remove(stranger.fd.get());
  loop_.Cancel(stranger.timer);
  guest.fd = std::move(stranger.fd);
  strangers_.erase(number);
  welcome_(std::move(guest));
}

void Doorman::DropOnLoop(Number number) {
  HVDX_DCHECK(loop_.OnLoop());
  Stranger& stranger = strangers_.at(number);
  const Status& status = stranger.handshake.status();
  HVDX_LOG(kInfo) << (status.ok() ? "too many connections: dropped " + stranger.address.ToString()
                                  : "dropped a connection: " + status.message());
  loop_.Remove(stranger.fd.get());
  loop_.Cancel(stranger.timer);
  strangers_.erase(number);
}

}  // namespace horovodx

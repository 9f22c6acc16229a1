#include "horovodx/transport/tcp/secure.h"

#include <sys/epoll.h>

#include <utility>

#include "horovodx/base/check.h"

namespace horovodx::transport::tcp {

Secure::Secure(EventLoop& loop, std::shared_ptr<tls::Session> session, std::string peer, Done done)
    : loop_(loop), session_(std::move(session)), peer_(std::move(peer)), done_(std::move(done)) {}

std::shared_ptr<Secure> Secure::StartOnLoop(EventLoop& loop, std::shared_ptr<tls::Session> session,
                                            std::string peer, const Deadline& deadline, Done done) {
  HVDX_DCHECK(loop.OnLoop());
  auto secure =
      std::make_shared<Secure>(loop, std::move(session), std::move(peer), std::move(done));
  secure->timer_ = loop.At(deadline.at(), [secure] {
    secure->FinishOnLoop(
        Status::Unknown("no TLS with " + secure->peer_ + ": it was silent for too long"));
  });
  // A socket has room at once, so this is also the first step.
  const Status added = loop.Add(secure->session_->fd(), EPOLLIN | EPOLLOUT,
                                [secure](auto) { secure->StepOnLoop(); });
  if (!added.ok()) loop.Post([secure, added] { secure->FinishOnLoop(added); });
  return secure;
}

void Secure::StepOnLoop() {
  HVDX_DCHECK(loop_.OnLoop());
  const Result<bool> done = session_->Step();
  if (!done.ok()) {
    return FinishOnLoop(
        Status(done.status().code(), "no TLS with " + peer_ + ": " + done.status().message()));
  }
  if (!done.value()) {
    return loop_.Change(session_->fd(), session_->holds_output() ? EPOLLIN | EPOLLOUT : EPOLLIN);
  }
  loop_.Remove(session_->fd());
  FinishOnLoop(Connection(std::move(session_)));
}

void Secure::FinishOnLoop(Result<Connection> connection) {
  HVDX_DCHECK(loop_.OnLoop());
  const Done done = std::exchange(done_, nullptr);
  CancelOnLoop();
  if (done) done(std::move(connection));
}

void Secure::CancelOnLoop() {
  HVDX_DCHECK(loop_.OnLoop());
  const auto self = shared_from_this();  // the timer and the handler may be the last to hold it
  done_ = nullptr;
  loop_.Cancel(timer_);
  if (session_ != nullptr) loop_.Remove(session_->fd());
  session_.reset();
}

}  // namespace horovodx::transport::tcp

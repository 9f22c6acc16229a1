#include "horovodx/transport/tcp/dial.h"

#include <sys/epoll.h>

#include <utility>

#include "horovodx/base/check.h"

namespace horovodx::transport::tcp {
namespace {

constexpr auto kBetweenAttempts = std::chrono::milliseconds(50);

}  // namespace

Dial::Dial(EventLoop& loop, Address to, Claims claims, Credentials credentials,
           const Deadline& deadline, Done done, std::shared_ptr<const tls::Context> tls)
    : loop_(loop),
      to_(std::move(to)),
      claims_(claims),
      credentials_(std::move(credentials)),
      deadline_(deadline),
      tls_(std::move(tls)),
      done_(std::move(done)) {}

std::shared_ptr<Dial> Dial::Start(EventLoop& loop, Address to, Claims claims,
                                  Credentials credentials, const Deadline& deadline, Done done,
                                  std::shared_ptr<const tls::Context> tls) {
  claims.tls = tls != nullptr;
  auto dial = std::make_shared<Dial>(loop, std::move(to), claims, std::move(credentials), deadline,
                                     std::move(done), std::move(tls));
  loop.Post([dial] {
    if (!dial->done_) return;  // cancelled before it began
    dial->deadline_timer_ = dial->loop_.At(dial->deadline_.at(), [dial] {
      const char* what = dial->secure_ != nullptr ? "no TLS with " : "cannot connect to ";
      dial->FinishOnLoop(Status::Unknown(what + dial->to_.ToString() + ": no answer in time"));
    });
    dial->TryOnLoop();
  });
  return dial;
}

void Dial::TryOnLoop() {
  HVDX_DCHECK(loop_.OnLoop());
  handshake_.reset();
  Result<Fd> fd = StartConnect(to_);
  if (!fd.ok()) return FinishOnLoop(fd.status());
  fd_ = std::move(*fd);
  const Status added =
      loop_.Add(fd_.get(), EPOLLOUT, [self = shared_from_this()](auto) { self->StepOnLoop(); });
  if (!added.ok()) FinishOnLoop(added);
}

void Dial::StepOnLoop() {
  HVDX_DCHECK(loop_.OnLoop());
  if (!handshake_) {
    if (const Status connected = FinishConnect(fd_.get(), to_); !connected.ok()) {
      return FinishOnLoop(connected);
    }
    const Result<Nonce> nonce = FreshNonce();
    if (!nonce.ok()) return FinishOnLoop(nonce.status());
    handshake_ = Handshake::Connect(claims_, credentials_, nonce.value(), to_.ToString());
  }
  StepHandshake(fd_.get(), *handshake_);
  if (!handshake_->finished()) {
    return loop_.Change(fd_.get(), (handshake_->wanted() > 0 ? EPOLLIN : 0u) |
                                       (handshake_->output().empty() ? 0u : EPOLLOUT));
  }
  if (!handshake_->status().ok()) return SettleOnLoop(handshake_->status());
  loop_.Remove(fd_.get());
  if (tls_ == nullptr) return FinishOnLoop(Connection(std::move(fd_)));
  ShakenOnLoop();
}

void Dial::ShakenOnLoop() {
  HVDX_DCHECK(loop_.OnLoop());
  Result<std::shared_ptr<tls::Session>> session =
      tls::Session::Make(tls_, std::move(fd_), tls::End::kConnector, handshake_->Binding());
  if (!session.ok()) return FinishOnLoop(session.status());
  const std::string peer = "rank " + std::to_string(claims_.to) + " (" + to_.ToString() + ")";
  secure_ = Secure::StartOnLoop(loop_, std::move(*session), peer, deadline_,
                                [self = shared_from_this()](Result<Connection> connection) {
                                  self->SettleOnLoop(std::move(connection));
                                });
}

// Whoever only closed may have had too many callers.
void Dial::SettleOnLoop(Result<Connection> connection) {
  HVDX_DCHECK(loop_.OnLoop());
  if (connection.status().code() == StatusCode::kUnknown && !deadline_.Passed()) {
    return RetryOnLoop();
  }
  FinishOnLoop(std::move(connection));
}

void Dial::RetryOnLoop() {
  HVDX_DCHECK(loop_.OnLoop());
  HangUpOnLoop();
  retry_timer_ =
      loop_.At(Clock::now() + kBetweenAttempts, [self = shared_from_this()] { self->TryOnLoop(); });
}

void Dial::HangUpOnLoop() {
  HVDX_DCHECK(loop_.OnLoop());
  if (fd_.valid()) loop_.Remove(fd_.get());
  fd_.Reset();
  if (secure_ != nullptr) secure_->CancelOnLoop();
  secure_.reset();
}

void Dial::FinishOnLoop(Result<Connection> connection) {
  HVDX_DCHECK(loop_.OnLoop());
  const Done done = std::exchange(done_, nullptr);
  CancelOnLoop();
  if (done) done(std::move(connection));
}

void Dial::CancelOnLoop() {
  HVDX_DCHECK(loop_.OnLoop());
  const auto self = shared_from_this();  // the timers and the handler may be the last to hold it
  done_ = nullptr;
  loop_.Cancel(deadline_timer_);
  loop_.Cancel(retry_timer_);
  HangUpOnLoop();
}

}  // namespace horovodx::transport::tcp

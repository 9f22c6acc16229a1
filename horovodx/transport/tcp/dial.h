// Dial: connects to another rank, shakes hands and begins TLS if the job has it, on the io thread,
// without anyone waiting.
//
// A peer that closes during the handshake (too many strangers at its door) is tried again until the
// deadline; one that refuses, or where nobody listens, is not.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "horovodx/base/event_loop.h"
#include "horovodx/base/handshake.h"
#include "horovodx/base/socket.h"
#include "horovodx/transport/tcp/secure.h"

namespace horovodx::transport::tcp {

class Dial : public std::enable_shared_from_this<Dial> {
 public:
  // Called once, on the loop's thread, unless cancelled before.
  using Done = std::function<void(Result<Connection> connection)>;

  // Any thread. The loop keeps it alive until it is done; the caller needs it only to cancel.
  // `tls`: the job's, or null.
  static std::shared_ptr<Dial> Start(EventLoop& loop, Address to, Claims claims,
                                     Credentials credentials, const Deadline& deadline, Done done,
                                     std::shared_ptr<const tls::Context> tls = nullptr);
  // Loop's thread. Afterwards Done is not called any more.
  void CancelOnLoop();

  Dial(EventLoop& loop, Address to, Claims claims, Credentials credentials,
       const Deadline& deadline, Done done, std::shared_ptr<const tls::Context> tls);  // Start

 private:
  void TryOnLoop();
  void StepOnLoop();
  void ShakenOnLoop();
  void SettleOnLoop(Result<Connection> connection);
  void RetryOnLoop();
  void FinishOnLoop(Result<Connection> connection);
  void HangUpOnLoop();

  EventLoop& loop_;
  const Address to_;
  const Claims claims_;
  const Credentials credentials_;
  const Deadline deadline_;
  const std::shared_ptr<const tls::Context> tls_;
  Done done_;  // empty: finished
  Fd fd_;
  std::optional<Handshake> handshake_;  // none: still connecting
  std::shared_ptr<Secure> secure_;      // after it
  EventLoop::TimerId deadline_timer_{};
  EventLoop::TimerId retry_timer_{};
};

}  // namespace horovodx::transport::tcp

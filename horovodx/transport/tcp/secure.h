// Secure: the TLS handshake of a connection, on the io thread, without anyone waiting.
//
// It comes after our own handshake, so OpenSSL never sees what a stranger sends.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "horovodx/base/event_loop.h"
#include "horovodx/transport/tcp/connection.h"

namespace horovodx::transport::tcp {

class Secure : public std::enable_shared_from_this<Secure> {
 public:
  // Called once, on the loop's thread and not within Start, unless cancelled before. kUnknown: the
  // other end has closed or was silent; kAborted: trying again would not help.
  using Done = std::function<void(Result<Connection> connection)>;

  // Loop's thread. `peer` is how errors call the other end. The loop keeps it alive until done.
  static std::shared_ptr<Secure> StartOnLoop(EventLoop& loop, std::shared_ptr<tls::Session> session,
                                             std::string peer, const Deadline& deadline, Done done);
  // Loop's thread. Closes the connection; afterwards Done is not called any more.
  void CancelOnLoop();

  Secure(EventLoop& loop, std::shared_ptr<tls::Session> session, std::string peer,
         Done done);  // Start

 private:
  void StepOnLoop();
  void FinishOnLoop(Result<Connection> connection);

  EventLoop& loop_;
  std::shared_ptr<tls::Session> session_;  // ours alone until it is handed over
  const std::string peer_;
  Done done_;  // empty: finished
  EventLoop::TimerId timer_{};
};

}  // namespace horovodx::transport::tcp

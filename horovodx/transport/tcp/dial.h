// Dial: connects to another rank and shakes hands, on the io thread, without anyone waiting.
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

namespace horovodx::transport::tcp {

class Dial : public std::enable_shared_from_this<Dial> {
 public:
  // Called once, on the loop's thread, unless cancelled before.
  using Done = std::function<void(Result<Fd> socket)>;

  // Any thread. The loop keeps it alive until it is done; the caller needs it only to cancel.
  static std::shared_ptr<Dial> Start(EventLoop& loop, Address to, Claims claims,
                                     Credentials credentials, const Deadline& deadline, Done done);
  // Loop's thread. Afterwards Done is not called any more.
  void CancelOnLoop();

  Dial(EventLoop& loop, Address to, Claims claims, Credentials credentials, Done done);  // Start

 private:
  void TryOnLoop();
  void StepOnLoop();
  void RetryOnLoop();
  void FinishOnLoop(Result<Fd> socket);
  void HangUpOnLoop();

  EventLoop& loop_;
  const Address to_;
  const Claims claims_;
  const Credentials credentials_;
  Done done_;  // empty: finished
  Fd fd_;
  std::optional<Handshake> handshake_;  // none: still connecting
  EventLoop::TimerId deadline_timer_{};
  EventLoop::TimerId retry_timer_{};
};

}  // namespace horovodx::transport::tcp

// Doorman: listens, and lets in only who passes the handshake.
//
// Runs on an event loop and never waits for anyone: strangers shake hands side by side. One that is
// silent for the limit, sends garbage, or fails the proof is dropped; when too many stand at the
// door, the oldest is dropped. Whom it lets in, with claims now to be believed, it hands over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "horovodx/base/event_loop.h"
#include "horovodx/base/handshake.h"
#include "horovodx/base/socket.h"
#include "horovodx/base/status.h"

namespace horovodx {

struct DoormanOptions {
  Address where;  // port 0: any
  Credentials credentials;
  std::int32_t rank = -1;  // who is called here; -1: not a rank
  unsigned accepts = 0;    // purposes: MaskOf, or-ed
  Duration limit = kHandshakeLimit;
  std::size_t most_strangers = 256;
  bool tls = false;  // what callers say after the handshake is TLS; theirs to begin
};

// A connection whose other end has proved itself.
struct Guest {
  Fd fd;
  Claims claims;
  Address address;
  Digest binding{};  // of its handshake
};

class Doorman {
 public:
  // Called on the loop's thread.
  using Welcome = std::function<void(Guest guest)>;

  // Any thread but the loop's. `loop` is borrowed and outlives the doorman.
  static Result<std::unique_ptr<Doorman>> Open(EventLoop& loop, DoormanOptions options,
                                               Welcome welcome);
  // Stops listening, drops all strangers; afterwards `welcome` is not called any more.
  ~Doorman();

  const Address& address() const { return address_; }  // with the port it got

 private:
  struct Stranger {
    Fd fd;
    Handshake handshake;
    Address address;
    EventLoop::TimerId timer;
  };
  using Number = std::uint64_t;  // in order of arrival

  Doorman(EventLoop& loop, DoormanOptions options, Welcome welcome, Fd listener, Address address);
  void AcceptOnLoop();
  void PauseOnLoop();
  Status GreetOnLoop(Fd fd);
  void StepOnLoop(Number number);
  void DropOnLoop(Number number);

  EventLoop& loop_;
  DoormanOptions options_;
  Welcome welcome_;
  Fd listener_;
  Address address_;
  std::map<Number, Stranger> strangers_;
  Number next_ = 0;
  EventLoop::TimerId pause_{};
};

}  // namespace horovodx

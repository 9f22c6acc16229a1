// IoLoop: the io thread of a process. All sockets that are not being read or written by a
// collective right now live here: listening, handshakes, control messages, heartbeats.
//
// It is also the Watcher: it rings the engine's bell when a socket that somebody waits for is
// ready. Thread: any. Outlives everything else in this room.
#pragma once

#include <memory>

#include "horovodx/base/bell.h"
#include "horovodx/base/event_loop.h"
#include "horovodx/transport/mesh.h"

namespace horovodx::transport::tcp {

class IoLoop : public Watcher {
 public:
  static Result<std::unique_ptr<IoLoop>> Start(Bell bell);
  ~IoLoop() override;

  EventLoop& loop() { return *loop_; }
  Bell bell() const { return bell_; }

  // Rings the bell once when the descriptor is readable (or writable) or broken. A closed
  // descriptor is forgotten by itself. One system call.
  void RingWhenReady(int fd, bool for_write) override;

 private:
  IoLoop(Bell bell, std::unique_ptr<EventLoop> loop, Fd watched);

  Bell bell_;
  // A poll set inside the loop's: descriptors come and go here from any thread without telling it.
  Fd watched_;
  std::unique_ptr<EventLoop> loop_;
};

}  // namespace horovodx::transport::tcp

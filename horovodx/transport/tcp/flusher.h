// Flusher: sends, on the io thread, what TLS has encrypted for a link and its socket did not take.
//
// A link's writer may have nothing more to write, or wait for something else, when there is room
// again: nobody but the io thread would notice. Without TLS there is nothing to do here.
#pragma once

#include <map>
#include <memory>

#include "horovodx/base/clock.h"
#include "horovodx/base/event_loop.h"
#include "horovodx/base/mutex.h"
#include "horovodx/transport/tcp/connection.h"

namespace horovodx::transport::tcp {

class Flusher {
 public:
  // `loop` is borrowed and outlives it.
  explicit Flusher(EventLoop& loop) : loop_(loop) {}
  // What is left gets `patience` to leave, as the kernel gives a socket that is closed.
  ~Flusher();

  // Any thread. After a Send: sees to it that all of it leaves, also if the connection's owner lets
  // go of it.
  void See(const Connection& connection) HVDX_EXCLUDES(mutex_);

  static constexpr Duration kPatience = std::chrono::seconds(5);

 private:
  void WatchOnLoop(const std::shared_ptr<tls::Session>& session);
  void FlushOnLoop(const std::shared_ptr<tls::Session>& session);
  void OneLess() HVDX_EXCLUDES(mutex_);

  EventLoop& loop_;
  std::map<int, std::shared_ptr<tls::Session>> watched_;  // loop's thread
  Mutex mutex_;
  CondVar changed_;
  int under_way_ HVDX_GUARDED_BY(mutex_) = 0;
};

}  // namespace horovodx::transport::tcp

// Berth: where the io thread puts the sockets of one link, and where the link finds them.
//
// Thread: Deposit and Fail on the io thread; ready and Take by the link. Shared by the two, since
// either may go first.
#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

#include "horovodx/base/bell.h"
#include "horovodx/base/mutex.h"
#include "horovodx/base/status.h"
#include "horovodx/transport/tcp/connection.h"

namespace horovodx::transport::tcp {

inline constexpr std::size_t kMostStreams = 64;

class Berth {
 public:
  explicit Berth(Bell bell) : bell_(bell.OfLinks()) {}

  // Socket `stream` of `streams`. An error if it does not fit: a number out of range or there
  // already. Rings the bell when the last one is there.
  Status Deposit(std::size_t stream, std::size_t streams, Connection connection)
      HVDX_EXCLUDES(mutex_);
  // There will be no sockets. The first reason stays.
  void Fail(Status why) HVDX_EXCLUDES(mutex_);

  // Whether Take has something to return: one atomic load.
  bool ready() const { return ready_.load(std::memory_order_acquire); }
  // All sockets of the link, once, or why there are none.
  Result<std::vector<Connection>> Take() HVDX_EXCLUDES(mutex_);

 private:
  Bell bell_;
  std::atomic<bool> ready_{false};  // released after the sockets are in place
  Mutex mutex_;
  std::vector<Connection> sockets_ HVDX_GUARDED_BY(mutex_);
  std::size_t there_ HVDX_GUARDED_BY(mutex_) = 0;
  Status failure_ HVDX_GUARDED_BY(mutex_);
};

}  // namespace horovodx::transport::tcp

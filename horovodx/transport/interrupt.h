// Interrupt: how the engine stops a collective that is blocked on its peers.
//
// Thread: Raise and Clear from the engine, Check and fd from whoever runs the collective.
#pragma once

#include <atomic>

#include "horovodx/base/bell.h"
#include "horovodx/base/fd.h"
#include "horovodx/base/mutex.h"
#include "horovodx/base/status.h"

namespace horovodx::transport {

class Interrupt {
 public:
  explicit Interrupt(Bell bell);

  // From now on Check() returns `why`, and whoever waits on the bell or the descriptor wakes. The
  // first reason stays until Clear(), except that a failure replaces a cancellation.
  void Raise(Status why) HVDX_EXCLUDES(mutex_);
  // Back to normal. Only kCancelled is ever cleared; a failure is for good.
  void Clear() HVDX_EXCLUDES(mutex_);

  bool raised() const { return raised_.load(std::memory_order_acquire); }
  Status Check() const HVDX_EXCLUDES(mutex_);
  // Readable while raised.
  int fd() const { return event_.get(); }

 private:
  Bell bell_;
  Fd event_;
  std::atomic<bool> raised_{false};
  mutable Mutex mutex_;
  Status why_ HVDX_GUARDED_BY(mutex_);
};

}  // namespace horovodx::transport

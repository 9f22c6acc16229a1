#include "horovodx/transport/interrupt.h"

#include <sys/eventfd.h>

#include "horovodx/base/check.h"

namespace horovodx::transport {

Interrupt::Interrupt(Bell bell) : bell_(bell), event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  HVDX_CHECK(event_.valid());
}

void Interrupt::Raise(Status why) {
  {
    MutexLock lock(mutex_);
    const bool replace = why_.ok() || (why_.code() == StatusCode::kCancelled &&
                                       why.code() != StatusCode::kCancelled);
    if (replace) why_ = std::move(why);
    raised_.store(true, std::memory_order_release);
    ::eventfd_write(event_.get(), 1);
  }
  bell_.Ring();
  bell_.OfLinks().Ring();
}

void Interrupt::Clear() {
  MutexLock lock(mutex_);
  if (why_.code() != StatusCode::kCancelled) return;
  why_ = Status::Ok();
  eventfd_t drained = 0;
  ::eventfd_read(event_.get(), &drained);
  raised_.store(false, std::memory_order_release);
}

Status Interrupt::Check() const {
  if (!raised()) return Status::Ok();
  MutexLock lock(mutex_);
  return why_;
}

}  // namespace horovodx::transport

#include "horovodx/transport/tcp/berth.h"

#include <string>
#include <utility>

namespace horovodx::transport::tcp {

Status Berth::Deposit(std::size_t stream, std::size_t streams, Connection connection) {
  {
    MutexLock lock(mutex_);
    if (there_ == 0 && streams > 0 && streams <= kMostStreams) sockets_.resize(streams);
    if (ready() || streams != sockets_.size() || stream >= streams || sockets_[stream].valid()) {
      return Status::Unknown("socket " + std::to_string(stream) + " of " + std::to_string(streams) +
                             " of a link is not wanted");
    }
    sockets_[stream] = std::move(connection);
    if (++there_ < streams) return Status::Ok();
    ready_.store(true, std::memory_order_release);
  }
  bell_.Ring();
  return Status::Ok();
}

void Berth::Fail(Status why) {
  {
    MutexLock lock(mutex_);
    if (ready()) return;
    failure_ = std::move(why);
    ready_.store(true, std::memory_order_release);
  }
  bell_.Ring();
}

Result<std::vector<Connection>> Berth::Take() {
  MutexLock lock(mutex_);
  HVDX_RETURN_IF_ERROR(failure_);
  return std::move(sockets_);
}

}  // namespace horovodx::transport::tcp

#include "horovodx/transport/mesh.h"

#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace horovodx::transport {
namespace {

bool Ready(InLink* in, OutLink* out) {
  return (in != nullptr && in->Readable()) || (out != nullptr && out->Writable());
}

Status TimedOut(const InLink* in, const OutLink* out) {
  std::string whom;
  if (in != nullptr) whom = "for data from " + in->Describe();
  if (out != nullptr) whom += (in != nullptr ? " and " : "") + ("to send to " + out->Describe());
  return Status::Unknown("waited too long " + whom);
}

// The end of a wait, with mercy: whoever looks at the clock long after the deadline was asleep
// (suspended, frozen, swapped out), so its peers may have been, too, and get some time to wake up.
class Patience {
 public:
  explicit Patience(const Deadline& deadline) : until_(deadline) {}
  const Deadline& until() const { return until_; }
  bool Ends() {
    if (!until_.Passed()) return false;
    if (extended_ || Clock::now() - until_.at() < kOverslept) return true;
    extended_ = true;
    until_ = Deadline::After(kToWakeUp);
    return false;
  }

 private:
  static constexpr auto kOverslept = std::chrono::seconds(1);
  static constexpr auto kToWakeUp = std::chrono::seconds(10);
  Deadline until_;
  bool extended_ = false;
};

}  // namespace

Mesh::Mesh(int rank, topology::HostMap hosts, Bell bell, Watcher* watcher)
    : bell_(bell), rank_(rank), hosts_(std::move(hosts)), watcher_(watcher), interrupt_(bell) {}

// True if there is something to read or write.
Result<bool> Mesh::LookAwake(InLink* in, OutLink* out, const Deadline& deadline) const {
  if (awake_ == Duration::zero()) return false;
  const Deadline until = Deadline::At(std::min(deadline.at(), Clock::now() + awake_));
  while (!until.Passed()) {
    HVDX_RETURN_IF_ERROR(interrupt_.Check());
    if (Ready(in, out)) return true;
    ::sched_yield();
  }
  return false;
}

Status Mesh::Await(InLink* in, OutLink* out, const Deadline& deadline) {
  HVDX_ASSIGN_OR_RETURN(const bool seen, LookAwake(in, out, deadline));
  if (seen) return Status::Ok();
  const int in_fd = in != nullptr ? in->fd() : -1;
  const int out_fd = out != nullptr ? out->fd() : -1;
  Patience patience(deadline);
  const bool by_bell = (in != nullptr && in_fd < 0) || (out != nullptr && out_fd < 0);
  if (by_bell) {
    Bell::Listener listener(bell_);
    if (in_fd >= 0) watcher_->RingWhenReady(in_fd, false);
    if (out_fd >= 0) watcher_->RingWhenReady(out_fd, true);
    while (!Ready(in, out)) {
      HVDX_RETURN_IF_ERROR(interrupt_.Check());
      if (!listener.Sleep(patience.until()) && patience.Ends()) {
        return Ready(in, out) ? Status::Ok() : TimedOut(in, out);
      }
    }
    return interrupt_.Check();
  }
  pollfd waits[3] = {{interrupt_.fd(), POLLIN, 0}, {in_fd, POLLIN, 0}, {out_fd, POLLOUT, 0}};
  while (true) {
    HVDX_RETURN_IF_ERROR(interrupt_.Check());
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(patience.until().Left());
    const int ready = ::poll(waits, 3, static_cast<int>(left.count()) + 1);
    if (ready > 0 || Ready(in, out)) return interrupt_.Check();
    if (ready < 0 && errno != EINTR) return Status::Unknown("poll failed while waiting for a peer");
    if (patience.Ends()) return TimedOut(in, out);
  }
}

}  // namespace horovodx::transport

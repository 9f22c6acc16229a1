#include "horovodx/transport/mesh.h"

#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace horovodx::transport {
namespace {

using Ins = std::span<InLink* const>;
using Outs = std::span<OutLink* const>;

bool Ready(Ins ins, Outs outs) {
  return std::any_of(ins.begin(), ins.end(),
                     [](InLink* in) { return in != nullptr && in->Readable(); }) ||
         std::any_of(outs.begin(), outs.end(),
                     [](OutLink* out) { return out != nullptr && out->Writable(); });
}

Status TimedOut(Ins ins, Outs outs) {
  std::string whom;
  for (const InLink* in : ins) {
    if (in != nullptr) whom += (whom.empty() ? "" : " and ") + ("for data from " + in->Describe());
  }
  for (const OutLink* out : outs) {
    if (out != nullptr) whom += (whom.empty() ? "" : " and ") + ("to send to " + out->Describe());
  }
  return Status::Unknown("waited too long " + whom);
}

// What can be polled for; false if some link is not a descriptor.
bool Pollable(Ins ins, Outs outs, std::vector<pollfd>& waits) {
  bool all = true;
  const auto add = [&](int fd, short event) {
    all = all && fd >= 0;
    if (fd >= 0) waits.push_back({fd, event, 0});
  };
  for (InLink* in : ins) {
    if (in != nullptr) add(in->fd(), POLLIN);
  }
  for (OutLink* out : outs) {
    if (out != nullptr) add(out->fd(), POLLOUT);
  }
  return all;
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

// For somebody who has given way.
class Mesh::Wait : public Awaited {
 public:
  Wait(Mesh& mesh, Ins ins, Outs outs) : mesh_(mesh), ins_(ins), outs_(outs) {}
  bool Ready() override {
    return mesh_.interrupt_.raised() || horovodx::transport::Ready(ins_, outs_);
  }
  void Nap(Duration most) override {
    auto& waits = mesh_.waits_;
    waits.assign(1, {mesh_.interrupt_.fd(), POLLIN, 0});
    const bool pollable = Pollable(ins_, outs_, waits);
    if (!pollable && waits.size() > 1) return;  // neither would hear the other kind
    Bell::Listener listener(mesh_.bell_.OfLinks());
    if (Ready()) return;
    if (!pollable) {
      listener.Sleep(Deadline::After(most));
      return;
    }
    const auto whole = std::chrono::floor<std::chrono::seconds>(most);
    const timespec limit{whole.count(), std::chrono::nanoseconds(most - whole).count()};
    ::ppoll(waits.data(), waits.size(), &limit, nullptr);
  }

 private:
  Mesh& mesh_;
  const Ins ins_;
  const Outs outs_;
};

// True if it is time to try again; false if he who gave way has to sleep by himself now.
Result<bool> Mesh::LookByTurns(Ins ins, Outs outs) {
  Wait wait(*this, ins, outs);
  give_way_->Pause(wait);
  HVDX_RETURN_IF_ERROR(interrupt_.Check());
  return give_way_ != nullptr;
}

// True if there is something to read or write.
Result<bool> Mesh::LookAwake(Ins ins, Outs outs, const Deadline& deadline) const {
  if (awake_ == Duration::zero()) return false;
  const Deadline until = Deadline::At(std::min(deadline.at(), Clock::now() + awake_));
  while (!until.Passed()) {
    HVDX_RETURN_IF_ERROR(interrupt_.Check());
    if (Ready(ins, outs)) return true;
    ::sched_yield();
  }
  return false;
}

Status Mesh::Await(InLink* in, OutLink* out, const Deadline& deadline) {
  return AwaitAny(Ins(&in, 1), Outs(&out, 1), deadline);
}

Status Mesh::AwaitAny(Ins ins, Outs outs, const Deadline& deadline) {
  HVDX_ASSIGN_OR_RETURN(const bool seen, give_way_ != nullptr ? LookByTurns(ins, outs)
                                                              : LookAwake(ins, outs, deadline));
  if (seen) return Status::Ok();
  Patience patience(deadline);
  waits_.assign(1, {interrupt_.fd(), POLLIN, 0});
  if (!Pollable(ins, outs, waits_)) {
    Bell::Listener listener(bell_.OfLinks());
    for (const pollfd& wait : std::span(waits_).subspan(1)) {
      watcher_->RingWhenReady(wait.fd, wait.events == POLLOUT);
    }
    while (!Ready(ins, outs)) {
      HVDX_RETURN_IF_ERROR(interrupt_.Check());
      if (!listener.Sleep(patience.until()) && patience.Ends()) {
        return Ready(ins, outs) ? Status::Ok() : TimedOut(ins, outs);
      }
    }
    return interrupt_.Check();
  }
  while (true) {
    HVDX_RETURN_IF_ERROR(interrupt_.Check());
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(patience.until().Left());
    const int ready = ::poll(waits_.data(), waits_.size(), static_cast<int>(left.count()) + 1);
    if (ready > 0 || Ready(ins, outs)) return interrupt_.Check();
    if (ready < 0 && errno != EINTR) return Status::Unknown("poll failed while waiting for a peer");
    if (patience.Ends()) return TimedOut(ins, outs);
  }
}

}  // namespace horovodx::transport

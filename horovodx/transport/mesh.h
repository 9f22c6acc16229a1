// Mesh: one rank's links to all members of one channel (a process set), and how to wait on them.
//
// Links are made on first use. A member's own number is its place in the channel's rank list.
//
// Thread: one at a time (a lane, or a test's rank thread). Interrupt may be raised from anywhere.
#pragma once

#include <poll.h>

#include <memory>
#include <span>
#include <vector>

#include "horovodx/base/bell.h"
#include "horovodx/base/clock.h"
#include "horovodx/base/status.h"
#include "horovodx/topology/host_map.h"
#include "horovodx/transport/interrupt.h"
#include "horovodx/transport/link.h"
#include "horovodx/transport/native_allreduce.h"
#include "horovodx/transport/stage.h"

namespace horovodx::transport {

// Turns "this descriptor is ready" into a ring of the bell, once per call, for waits that mix
// sockets and shared memory. The tcp transport's io thread implements it.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void RingWhenReady(int fd, bool for_write) = 0;
};

// What somebody waits for on a mesh.
class Awaited {
 public:
  virtual ~Awaited() = default;
  virtual bool Ready() = 0;
  // Sleeps until it is, at most so long. May come back earlier.
  virtual void Nap(Duration most) = 0;
};

// Who waits on a mesh without keeping a thread: gives way to whoever runs him, and looks again when
// he is run on.
class GiveWay {
 public:
  virtual ~GiveWay() = default;
  // Returns when it is time to go on, which `awaited` can be asked for meanwhile.
  virtual void Pause(Awaited& awaited) = 0;
};

class Mesh {
 public:
  Mesh(int rank, topology::HostMap hosts, Bell bell, Watcher* watcher);
  virtual ~Mesh() = default;

  int rank() const { return rank_; }
  int size() const { return hosts_.size(); }
  const topology::HostMap& hosts() const { return hosts_; }
  Interrupt& interrupt() { return interrupt_; }
  Bell bell() const { return bell_; }

  // To and from another member. Never null; errors show when used.
  virtual OutLink& Out(int member) = 0;
  virtual InLink& In(int member) = 0;
  // What this host's members share (also when I am alone on it), or null where there is no shared
  // memory. Its member i is hosts().ranks_on(my host)[i].
  virtual Stage* stage() { return nullptr; }

  // An allreduce over all members that what is below the links has; null: it has none.
  virtual NativeAllreduce* native() { return nullptr; }

  // How many sockets a link to another host has; 1 where it has none to choose from.
  virtual int streams() const { return 1; }
  // How many of them are written to from now on, at most; 0: all. Readers follow, so each rank may
  // use as many as it likes.
  void UseStreams(int streams) { streams_in_use_ = streams; }

  // Sleeps until `in` is readable or `out` is writable (either may be null), or the interrupt is
  // raised (its Status is returned), or the deadline passes (kUnknown, naming whom it waited for).
  Status Await(InLink* in, OutLink* out, const Deadline& deadline);
  // The same for any of several; null ones do not count.
  Status AwaitAny(std::span<InLink* const> ins, std::span<OutLink* const> outs,
                  const Deadline& deadline);
  // How long Await looks for itself, giving way to others, before it sleeps. For when somebody
  // blocks on an answer that is less far away than waking up takes.
  void StayAwake(Duration awake) { awake_ = awake; }
  // While it is set, also during a pause, Await pauses by this instead of sleeping. Borrowed.
  void SetGiveWay(GiveWay* give_way) { give_way_ = give_way; }

 protected:
  Bell bell_;
  int streams_in_use_ = 0;

 private:
  class Wait;

  Result<bool> LookByTurns(std::span<InLink* const> ins, std::span<OutLink* const> outs);
  Result<bool> LookAwake(std::span<InLink* const> ins, std::span<OutLink* const> outs,
                         const Deadline& deadline) const;

  int rank_;
  topology::HostMap hosts_;
  Watcher* watcher_;
  Interrupt interrupt_;
  Duration awake_ = Duration::zero();
  GiveWay* give_way_ = nullptr;
  std::vector<pollfd> waits_;  // scratch
};

}  // namespace horovodx::transport

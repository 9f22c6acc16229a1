// Team: ranks working together on one collective, with messages between them.
//
// A team is a view of a mesh: all its members, or some (the ranks of a host, the same place on
// every host). Messages are framed here, once for all transports: a header with the epoch and the
// length goes before each. What is left over from an earlier epoch (a planned bucket that was
// dropped half-way) is recognised and thrown away by the receiver; the unsent rest of a message
// that its sender gave up is sent before anything new, so the stream stays in step.
//
// Thread: one at a time; every call blocks until done, the interrupt is raised, or no byte has
// moved for the time limit.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "horovodx/base/bytes.h"
#include "horovodx/base/clock.h"
#include "horovodx/base/status.h"
#include "horovodx/topology/host_map.h"
#include "horovodx/transport/mesh.h"

namespace horovodx::collectives {

// What a team has sent, for tests that hold an algorithm to its formula, and for the cost model.
// Headers do not count.
struct Traffic {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};

// Called as a message arrives, with each further stretch [begin, end) of it that is complete (in
// bytes, a multiple of `unit` except at the end). Lets reducing overlap receiving.
using OnArrival = std::function<void(std::size_t begin, std::size_t end)>;

// What goes on beside blocking calls of the same mesh, over other links: whoever blocks keeps it
// moving while waiting.
class Companion {
 public:
  virtual ~Companion() = default;
  // Moves what can be moved now: the number of bytes. An error ends the blocking call too.
  virtual Result<std::size_t> Pump() = 0;
  // What it waits for; null: nothing.
  virtual transport::InLink* awaited_in() = 0;
  virtual transport::OutLink* awaited_out() = 0;
};

class Team {
 public:
  // The state that all teams of one mesh share: framing, the epoch, counters.
  class Wire;

  // All members of the mesh.
  explicit Team(transport::Mesh& mesh);
  ~Team();
  Team(Team&&) noexcept;

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(members_.size()); }
  // Where the members sit, renumbered to team ranks.
  const topology::HostMap& hosts() const { return hosts_; }
  // The team of some of my members (team ranks, must include mine), in the order given.
  Team Sub(const std::vector<int>& ranks) const;
  // The shared stage, if this team is exactly the members of the mesh on this host; else null.
  transport::Stage* stage() const;
  // What the fabric has by itself, if this team is all members of the mesh; else null.
  transport::NativeAllreduce* native() const;

  // One message to `to` and one from `from`, at the same time (so no two ranks wait for each
  // other).
  Status Exchange(int to, std::span<const ConstBytes> out, int from,
                  std::span<const MutableBytes> in, std::size_t unit = 0,
                  const OnArrival& on_arrival = nullptr);
  Status Send(int to, std::span<const ConstBytes> out);
  Status Receive(int from, std::span<const MutableBytes> in, std::size_t unit = 0,
                 const OnArrival& on_arrival = nullptr);
  Status Send(int to, ConstBytes out) { return Send(to, std::span(&out, 1)); }
  Status Receive(int from, MutableBytes in) { return Receive(from, std::span(&in, 1)); }

  // An exchange in steps that do not block (Flight is easier to hold): Begin, then Pump until Done,
  // or GiveUp. -1 is nobody: nothing in that direction. Nothing else uses the two links meanwhile;
  // the pieces stay where they are.
  void Begin(int to, std::span<const ConstBytes> out, int from, std::span<const MutableBytes> in);
  Result<std::size_t> Pump(int to, int from);
  bool Done(int to, int from) const;
  std::size_t Arrived(int from) const;  // bytes of the message that is being received
  bool Complete(int from) const;        // all of it
  void GiveUp(int to, int from);
  transport::InLink* AwaitedIn(int from);
  transport::OutLink* AwaitedOut(int to);
  // Borrowed until it is taken away with null.
  void SetCompanion(Companion* companion);
  // Sleeps until the companion can move.
  Status AwaitCompanion();

  // Starts a new epoch; must grow. All members do so at the same point of their message sequence.
  void EnterEpoch(std::uint32_t epoch);
  // No byte moved for this long: an error naming the peer. Default 30 s.
  void SetTimeLimit(Duration limit);
  Duration time_limit() const;
  // The segment asked for (segment.h); all members ask for the same between two collectives. 0:
  // each algorithm's own.
  void SetSegment(std::size_t bytes);
  std::size_t SegmentOr(std::size_t own) const;
  Traffic traffic() const;  // of all teams of this mesh together, sent by me
  // Grows whenever bytes have moved, either way. Any thread.
  std::uint64_t movements() const;

 private:
  Team(std::shared_ptr<Wire> wire, std::vector<int> members, int rank);
  int Member(int rank) const { return rank < 0 ? rank : members_[rank]; }

  std::shared_ptr<Wire> wire_;  // shared by the teams of one mesh; the last one frees it
  std::vector<int> members_;    // mesh ranks
  int rank_;
  topology::HostMap hosts_;
};

}  // namespace horovodx::collectives

// Post: byte streams between ranks over MPI's point-to-point messages.
//
// A stream is cut into blocks of up to 256 KiB, four under way at a time; MPI keeps messages of one
// sender and tag in order. Sends are synchronous ones (they end when the receiver takes them), so
// what a slow reader has not taken waits at its writer and never in MPI.
//
// MPI moves nothing unless it is called. Whoever looks at a link calls it for a moment; while
// somebody sleeps until a link is ready, or blocks are under way, a thread of the post looks for
// him: at once, then ever more rarely, down to once a millisecond. Otherwise it calls MPI ever more
// rarely, down to ten times a second: a send may have ended for MPI although the last packet of it,
// without which the receiver waits, is still to be written by whoever calls MPI next. Nobody spins.
//
// Thread: any (MPI must allow several); one lock around all.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "horovodx/base/bell.h"
#include "horovodx/base/bytes.h"
#include "horovodx/base/clock.h"
#include "horovodx/base/status.h"
#include "horovodx/mpi/library.h"

namespace horovodx::transport::mpi {

using horovodx::mpi::Comm;
using horovodx::mpi::Library;
using horovodx::mpi::Request;

inline constexpr std::size_t kBlockBytes = 256 << 10;
inline constexpr std::size_t kBlocks = 4;

// One message under way.
struct Block {
  std::unique_ptr<std::byte[]> bytes;
  Request request = nullptr;
};

// To one peer, within one channel.
struct Outbox {
  int peer = 0;
  int tag = 0;
  std::string name;                                  // "rank 5 (host b, mpi)"
  std::deque<Block> flying;                          // in order
  std::vector<std::unique_ptr<std::byte[]>> spares;  // to be used again
  Status failure;
};

// From one peer.
struct Inbox {
  int peer = 0;
  int tag = 0;
  std::string name;
  std::deque<Block> posted;  // in order; the first may have arrived
  bool arrived = false;      // it has:
  std::size_t size = 0;      //   bytes in it
  std::size_t taken = 0;     //   and how many of them have been read
  bool awaited = false;      // somebody sleeps until there is something
  Status failure;
};

class Post {
 public:
  // `comm` has the job's ranks and is used for nothing else meanwhile; `library` is borrowed. MPI
  // has been started and allows any thread. Arrivals ring `bell`.
  Post(Library& library, Comm comm, int rank, Bell bell);
  // All boxes have been closed. Blocks that nobody took by now are given up.
  ~Post();
  Post(const Post&) = delete;
  Post& operator=(const Post&) = delete;

  Library& library() { return library_; }
  Comm comm() const { return comm_; }

  Outbox* OpenOut(int peer, int tag, std::string name);
  Inbox* OpenIn(int peer, int tag, std::string name);
  void Close(Outbox* box);
  void Close(Inbox* box);

  // As in link.h.
  Result<std::size_t> Write(Outbox& box, std::span<const ConstBytes> pieces);
  bool Writable(Outbox& box);
  Result<std::size_t> Read(Inbox& box, std::span<const MutableBytes> pieces);
  bool Readable(Inbox& box);

 private:
  // With the lock held.
  void Send(Outbox& box, std::unique_ptr<std::byte[]> bytes, std::size_t size);
  bool EndSends(Outbox& box);
  void Receive(Inbox& box, std::unique_ptr<std::byte[]> bytes);
  bool Arrived(Inbox& box);
  void Await(Inbox& box);
  bool Busy() const;
  bool Look(bool ask_again);
  bool EndOrphans();
  void Nudge();
  void WakeLooker();
  Status Failed(int error, const std::string& what, const std::string& peer) const;

  void LookWhileBusy();

  Library& library_;
  const Comm comm_;
  const int rank_;
  const Bell bell_;

  std::mutex mutex_;  // guards all that follows
  std::condition_variable wanted_;
  bool parked_ = false;  // the thread sleeps until it is wanted
  bool hurry_ = false;   // somebody has just begun to wait
  bool stop_ = false;
  std::list<Outbox> outs_;
  std::list<Inbox> ins_;
  std::list<Block> orphans_;  // sends of boxes that were closed; MPI still reads their bytes
  TimePoint orphans_until_{};
  Block never_;  // a receive from ourselves, to which nobody sends: what there always is to ask for
  std::thread thread_;
};

}  // namespace horovodx::transport::mpi

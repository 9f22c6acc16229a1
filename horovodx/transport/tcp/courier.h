// The courier over TCP: one socket to each neighbour in the control tree, served by the io thread.
//
// Frames (base/frame.h): tag 0 is a heartbeat and empty, tag 1 carries one message. An idle
// connection carries a heartbeat every quarter of the limit. Send writes to the socket itself when
// nothing is queued before, which saves waking the io thread.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "horovodx/base/frame.h"
#include "horovodx/topology/host_map.h"
#include "horovodx/transport/courier.h"
#include "horovodx/transport/tcp/acceptor.h"
#include "horovodx/transport/tcp/dial.h"
#include "horovodx/transport/tcp/io_loop.h"

namespace horovodx::transport::tcp {

inline constexpr std::size_t kMostMessageBytes = 64u << 20;

struct CourierOptions {
  int rank = 0;
  topology::HostMap hosts;
  std::vector<Address> addresses;  // of all ranks' acceptors
  Credentials credentials;
  Duration heartbeat_limit = std::chrono::seconds(10);
  std::shared_ptr<const tls::Context> tls = nullptr;  // null: the job has none
};

class Courier : public transport::Courier {
 public:
  // Waits until parent and children are connected and have been heard; at the deadline an error
  // that names those missing. `io` and `acceptor` are borrowed and outlive the courier.
  static Result<std::unique_ptr<Courier>> Connect(CourierOptions options, IoLoop& io,
                                                  Acceptor& acceptor, const Deadline& deadline);
  // Closes at once; Flush before if it matters.
  ~Courier() override;

  void Send(int to, std::vector<std::byte> message) override;
  std::vector<Delivery> Receive() override HVDX_EXCLUDES(mutex_);
  bool HasMail() const override { return has_mail_.load(std::memory_order_acquire); }
  void ExpectGoodbyes() override { goodbyes_ = true; }
  void Flush(double seconds) override;

 private:
  struct Neighbour {
    explicit Neighbour(std::string text) : name(std::move(text)), in(kMostMessageBytes) {}
    const std::string name;  // "rank 3 (host b, 10.0.0.7:4711)"
    // Io thread.
    FrameParser in;
    TimePoint heard{};
    bool greeted = false;  // something has been heard
    // Shared with senders.
    Mutex mutex;
    CondVar drained;
    Connection connection HVDX_GUARDED_BY(mutex);  // changed by the io thread only
    FrameQueue out HVDX_GUARDED_BY(mutex);
    bool awaits_room HVDX_GUARDED_BY(mutex) = false;  // the io thread sends the rest
    bool lost HVDX_GUARDED_BY(mutex) = false;
  };

  Courier(CourierOptions options, IoLoop& io, Acceptor& acceptor);
  Status AwaitNeighbours(const Deadline& deadline) HVDX_EXCLUDES(mutex_);
  void BeginOnIo(int parent, const Deadline& deadline);
  void AttachOnIo(int rank, Connection connection);
  bool TakeOnIo(int rank, Connection connection);
  void ServeOnIo(int rank, std::uint32_t events);
  bool ReadOnIo(int rank);
  void TickOnIo();
  void LoseOnIo(int rank, const std::string& why);
  void GreetedOnIo(Neighbour& neighbour) HVDX_EXCLUDES(mutex_);
  void Deliver(Delivery delivery) HVDX_EXCLUDES(mutex_);
  // Sends what the socket takes; sees to it that the io thread goes on with the rest.
  void SendSome(int rank, Neighbour& neighbour) HVDX_REQUIRES(neighbour.mutex);
  void WatchOnIo(Neighbour& neighbour) HVDX_REQUIRES(neighbour.mutex);
  // Null: there is none (any more).
  static Connection* ConnectionOf(Neighbour& neighbour) HVDX_EXCLUDES(neighbour.mutex);
  std::string Describe(int rank) const;

  const CourierOptions options_;
  IoLoop& io_;
  Acceptor& acceptor_;
  std::map<int, std::unique_ptr<Neighbour>> neighbours_;  // fixed after construction
  std::shared_ptr<Dial> dial_;                            // io thread: to the parent
  EventLoop::TimerId tick_{};                             // io thread
  TimePoint last_tick_{};                                 // io thread

  std::atomic<bool> goodbyes_{false};
  std::atomic<bool> has_mail_{false};
  Mutex mutex_;
  CondVar changed_;
  std::vector<Delivery> inbox_ HVDX_GUARDED_BY(mutex_);
  std::size_t missing_ HVDX_GUARDED_BY(mutex_) = 0;  // neighbours not heard yet
  Status failure_ HVDX_GUARDED_BY(mutex_);           // while connecting
};

}  // namespace horovodx::transport::tcp

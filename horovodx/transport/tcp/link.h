// Links over TCP: bytes from one rank to another, over a few sockets side by side.
//
// One socket is often limited by one core or one path; blocks of 256 KiB go round several in order,
// or round as many of them as the writer pleases: the reader follows (stripes.h). The writer
// connects when it has something to write, and each link has sockets of its own: the handshake
// names the channel, so no two links ever mix. Data goes straight between the sockets and the
// caller's memory, or through TLS.
//
// Thread: one at a time per link. Neither connecting nor anything else waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "horovodx/transport/link.h"
#include "horovodx/transport/tcp/berth.h"
#include "horovodx/transport/tcp/flusher.h"
#include "horovodx/transport/tcp/stripes.h"

namespace horovodx::transport::tcp {

// What both directions have in common: sockets that come by a berth, a count, and a failure.
class LinkState {
 public:
  // `me` and `peer` are for errors: "rank 2", "rank 5 (10.0.0.7:4711, tcp)".
  LinkState(std::string me, std::string peer) : me_(std::move(me)), peer_(std::move(peer)) {}

  bool connected() const { return !sockets_.empty(); }
  const Status& failure() const { return failure_; }
  const std::string& peer() const { return peer_; }
  // Takes the sockets if they have come. True if anything changed.
  bool Pick(Berth& berth);
  // What carries the next byte; only while connected.
  Connection& next();
  // Its socket, or -1.
  int fd();
  // How many bytes of data the next system call may move.
  std::size_t room() const { return stripes_.room(); }
  // What must move before them, if anything. For a writer: going on to the next of the first
  // `in_use` sockets (0, or more than there are: of all).
  MutableBytes Label(int in_use);
  // So many bytes of data have moved, behind the label if that was due. A label that names no
  // socket is a failure.
  void Moved(std::size_t bytes);
  void Fail(const std::string& why);
  // Whether poll() reports one of `events` for the next byte's socket now.
  bool Polls(short events);

 private:
  std::string me_, peer_;
  std::vector<Connection> sockets_;
  Stripes stripes_;
  std::byte label_{};
  std::uint64_t moved_ = 0;  // of data
  Status failure_;
};

class TcpOutLink : public OutLink {
 public:
  // `connect` starts connecting, into the berth it is given; called once, by the first use. What it
  // returns is called when the link ends.
  using Undo = std::function<void()>;
  using Connect = std::function<Undo(std::shared_ptr<Berth>)>;
  // `in_use` says how many of the sockets to write to; 0: to all. Borrowed: read when a block ends.
  // `flusher` is borrowed and outlives the link.
  TcpOutLink(LinkState state, std::shared_ptr<Berth> berth, Connect connect, const int& in_use,
             Flusher& flusher);
  ~TcpOutLink() override;

  Result<std::size_t> TryWrite(std::span<const ConstBytes> pieces) override;
  bool Writable() override;
  int fd() override { return state_.fd(); }
  std::string Describe() const override { return state_.peer(); }

 private:
  void ConnectOnce();

  LinkState state_;
  std::shared_ptr<Berth> berth_;  // shared with the dials, which may end after the link
  Connect connect_;
  const int& in_use_;
  Flusher& flusher_;
  Undo undo_;
};

class TcpInLink : public InLink {
 public:
  // `forget` is called when the link ends.
  TcpInLink(LinkState state, std::shared_ptr<Berth> berth, std::function<void()> forget);
  ~TcpInLink() override;

  Result<std::size_t> TryRead(std::span<const MutableBytes> pieces) override;
  bool Readable() override;
  int fd() override;
  std::string Describe() const override { return state_.peer(); }

 private:
  LinkState state_;
  std::shared_ptr<Berth> berth_;  // shared with the acceptor, which may fill it before or after
  std::function<void()> forget_;
};

}  // namespace horovodx::transport::tcp

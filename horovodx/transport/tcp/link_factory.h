// LinkFactory: single links over TCP, for the tcp mesh and for meshes that mix transports.
//
// Thread: any. The factory outlives its links.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "horovodx/base/handshake.h"
#include "horovodx/base/socket.h"
#include "horovodx/transport/link.h"
#include "horovodx/transport/tcp/acceptor.h"
#include "horovodx/transport/tcp/flusher.h"
#include "horovodx/transport/tcp/io_loop.h"

namespace horovodx::transport::tcp {

struct LinkOptions {
  int rank = 0;                    // mine, in the world
  std::vector<Address> addresses;  // of all ranks' acceptors
  Credentials credentials;
  int streams = 2;  // sockets of a link; the reader takes as many as the writer brings
  Duration connect_limit = std::chrono::seconds(30);
  std::shared_ptr<const tls::Context> tls = nullptr;  // null: the job has none
};

class LinkFactory {
 public:
  // `io` and `acceptor` are borrowed and outlive the factory.
  LinkFactory(LinkOptions options, IoLoop& io, Acceptor& acceptor);

  // To and from rank `peer` of the world. There is one link of a channel and direction between two
  // ranks; it connects on first use. `in_use` says how many of its sockets are written to (0: all);
  // borrowed, outlives the link, and may change while nobody uses the link.
  std::unique_ptr<OutLink> MakeOut(std::uint32_t channel, int peer, const int& in_use);
  std::unique_ptr<InLink> MakeIn(std::uint32_t channel, int peer);

  IoLoop& io() { return io_; }
  int rank() const { return options_.rank; }
  int streams() const { return options_.streams; }

 private:
  std::string NameOf(int peer) const;

  LinkOptions options_;
  IoLoop& io_;
  Acceptor& acceptor_;
  Flusher flusher_;
};

}  // namespace horovodx::transport::tcp

// SocketBio: how OpenSSL reads and writes a socket of ours.
//
// It reads the socket itself; what it writes is kept here and sent by Flush. So a write never fails
// for want of room: what OpenSSL has encrypted cannot be taken back, and its caller may well have
// changed its mind by the time there is room again. And no write raises SIGPIPE.
//
// Thread: one at a time.
#pragma once

#include <cstddef>
#include <vector>

#include "horovodx/base/fd.h"
#include "horovodx/tls/openssl.h"

namespace horovodx::tls {

struct SocketBio {
  explicit SocketBio(Fd socket) : fd(std::move(socket)) {}
  SocketBio(const SocketBio&) = delete;
  SocketBio& operator=(const SocketBio&) = delete;

  // What OpenSSL gets; null if there is no memory. It must be gone before this is.
  openssl::Bio* NewBio();
  // Sends what the socket takes now.
  void Flush();
  bool flushed() const { return sent == out.size(); }

  Fd fd;
  std::vector<std::byte> out;
  std::size_t sent = 0;  // of `out`
  bool closed = false;   // the other end has closed the connection
  int read_error = 0;    // errno of a call that failed
  int send_error = 0;    // the same; what came before can still be read
};

}  // namespace horovodx::tls

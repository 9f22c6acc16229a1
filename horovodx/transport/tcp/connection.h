// Connection: a socket to another rank that has proved itself, as it is or encrypted.
//
// Thread: one at a time for each direction.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "horovodx/base/fd.h"
#include "horovodx/tls/session.h"

namespace horovodx::transport::tcp {

class Connection {
 public:
  Connection() = default;
  Connection(Fd fd) : fd_(std::move(fd)) {}  // NOLINT: a socket is a connection
  explicit Connection(std::shared_ptr<tls::Session> session) : session_(std::move(session)) {}

  bool valid() const { return fd() >= 0; }
  int fd() const { return session_ != nullptr ? session_->fd() : fd_.get(); }
  void Reset() { *this = Connection(); }

  // As sendmsg and readv, without SIGPIPE.
  ssize_t Send(std::span<iovec> pieces);
  ssize_t Receive(std::span<iovec> pieces);
  // What errno means after one of these has failed.
  std::string Error() const;

  // What poll() on fd() cannot know. Has arrived, and is to be read:
  bool holds_input() const { return session_ != nullptr && session_->holds_input(); }
  // Was taken by Send, and is not sent yet:
  bool holds_output() const { return session_ != nullptr && session_->holds_output(); }
  void Flush() {
    if (session_ != nullptr) session_->Flush();
  }
  // Null: not encrypted. Shared: who flushes it may outlive the connection's owner.
  const std::shared_ptr<tls::Session>& session() const { return session_; }

 private:
  Fd fd_;
  std::shared_ptr<tls::Session> session_;
};

}  // namespace horovodx::transport::tcp

#include "horovodx/transport/tcp/connection.h"

#include <sys/socket.h>

#include <cerrno>

#include "horovodx/base/socket.h"

namespace horovodx::transport::tcp {

ssize_t Connection::Send(std::span<iovec> pieces) {
  if (session_ != nullptr) return session_->Send(pieces);
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = pieces.size();
  return ::sendmsg(fd_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

ssize_t Connection::Receive(std::span<iovec> pieces) {
  if (session_ != nullptr) return session_->Receive(pieces);
  return ::readv(fd_.get(), pieces.data(), static_cast<int>(pieces.size()));
}

std::string Connection::Error() const {
  const int error = errno;
  const std::string failure = session_ != nullptr ? session_->failure() : "";
  return failure.empty() ? ErrnoText(error) : failure;
}

}  // namespace horovodx::transport::tcp

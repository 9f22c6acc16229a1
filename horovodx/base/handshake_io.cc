// How a Handshake meets a socket.
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "horovodx/base/handshake.h"
#include "horovodx/base/socket.h"

namespace horovodx {
namespace {

// Both return whether there may be more to do at once.
bool SendSome(int fd, Handshake& handshake) {
  const ConstBytes output = handshake.output();
  const ssize_t sent = ::send(fd, output.data(), output.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent >= 0) {
    handshake.Sent(static_cast<std::size_t>(sent));
    return true;
  }
  if (errno == EINTR) return true;
  if (errno != EAGAIN) handshake.Closed();
  return false;
}

bool ReadSome(int fd, Handshake& handshake) {
  std::array<std::byte, Handshake::kHelloBytes> bytes;
  const ssize_t got = ::recv(fd, bytes.data(), handshake.wanted(), MSG_DONTWAIT);
  if (got > 0) {
    handshake.Feed(ConstBytes(bytes).first(static_cast<std::size_t>(got)));
    return true;
  }
  if (got < 0 && errno == EINTR) return true;
  if (got == 0 || errno != EAGAIN) handshake.Closed();
  return false;
}

}  // namespace

void StepHandshake(int fd, Handshake& handshake) {
  while (!handshake.output().empty()) {
    if (!SendSome(fd, handshake)) break;
  }
  while (handshake.wanted() > 0) {
    if (!ReadSome(fd, handshake)) break;
    while (!handshake.output().empty()) {
      if (!SendSome(fd, handshake)) break;
    }
  }
}

Status RunHandshake(int fd, Handshake& handshake, const Deadline& deadline) {
  while (true) {
    StepHandshake(fd, handshake);
    if (handshake.finished()) return handshake.status();
    const short events = static_cast<short>((handshake.wanted() > 0 ? POLLIN : 0) |
                                            (handshake.output().empty() ? 0 : POLLOUT));
    if (!WaitFor(fd, events, deadline)) {
      handshake.TimedOut();
      return handshake.status();
    }
  }
}

}  // namespace horovodx

// TCP sockets: listen, connect, and say in words what went wrong.
//
// Every descriptor made here is non-blocking, closes on exec, sends without delay (no Nagle), and
// belongs to the caller. Buffers are left to the kernel: it grows them to what the path needs,
// beyond what an unprivileged SO_SNDBUF could ask for on most machines.
//
// Thread: any.
#pragma once

#include <cstdint>
#include <string>

#include "horovodx/base/clock.h"
#include "horovodx/base/fd.h"
#include "horovodx/base/status.h"

namespace horovodx {

struct Address {
  std::string host;  // 10.0.0.7, fe80::1, or (where said so) a name
  std::uint16_t port = 0;
  std::string ToString() const;  // 10.0.0.7:4711, [fe80::1]:4711
  bool operator==(const Address&) const = default;
};

// The reverse of ToString.
Result<Address> ParseAddress(const std::string& text);

// The IPv4 address of a network interface ("eth0"), or its IPv6 address if it has no other. An
// unknown name is an error that lists those there are.
Result<std::string> AddressOfInterface(const std::string& name);

// Listens on one address of this machine (a name works too); port 0 takes any free one. All
// interfaces must be asked for by name: 0.0.0.0.
Result<Fd> ListenOn(const Address& where);
// The next waiting connection; an invalid Fd when there is none.
Result<Fd> AcceptFrom(int listener);

// Connects within the deadline. `to.host` may be a name; looking it up takes the system's own time.
Result<Fd> ConnectTo(const Address& to, const Deadline& deadline);
// The two halves of the above for whoever may not wait: the descriptor becomes writable when the
// attempt ended, then FinishConnect tells how. `to.host` must be numeric.
Result<Fd> StartConnect(const Address& to);
Status FinishConnect(int fd, const Address& to);

Result<Address> LocalAddressOf(int fd);
Result<Address> PeerAddressOf(int fd);

// Lets the kernel notice within about ten seconds that an idle connection's other host is gone.
void ProbeWhenIdle(int fd);

// Sleeps until poll() says one of `events` (POLLIN, POLLOUT; errors count too). False at the
// deadline.
bool WaitFor(int fd, short events, const Deadline& deadline);

// "Connection refused" and the like, without strerror's data race.
std::string ErrnoText(int error);
// "<what>: <text of errno>".
Status FromErrno(const std::string& what);

}  // namespace horovodx

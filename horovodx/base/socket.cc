#include "horovodx/base/socket.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <set>
#include <system_error>
#include <vector>

namespace horovodx {
namespace {

struct Endpoint {
  sockaddr_storage storage{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

// Everything a name stands for, IPv4 first; never empty.
Result<std::vector<Endpoint>> Resolve(const Address& address, bool numeric) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (numeric ? AI_NUMERICHOST : 0);
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  const int error = ::getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found);
  if (error != 0) {
    return Status::InvalidArgument("no such address '" + address.host +
                                   "': " + ::gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  std::vector<Endpoint> endpoints;
  for (const addrinfo* i = found; i != nullptr; i = i->ai_next) {
    Endpoint& endpoint = endpoints.emplace_back();
    std::memcpy(&endpoint.storage, i->ai_addr, i->ai_addrlen);
    endpoint.size = i->ai_addrlen;
  }
  std::stable_partition(endpoints.begin(), endpoints.end(), [](const Endpoint& endpoint) {
    return endpoint.storage.ss_family == AF_INET;
  });
  return endpoints;
}

Address ToAddress(const Endpoint& endpoint) {
  char host[INET6_ADDRSTRLEN + IF_NAMESIZE + 1] = {};
  char port[8] = {};
  ::getnameinfo(endpoint.get(), endpoint.size, host, sizeof(host), port, sizeof(port),
                NI_NUMERICHOST | NI_NUMERICSERV);
  return {host, static_cast<std::uint16_t>(std::strtoul(port, nullptr, 10))};
}

void SendAtOnce(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

Result<Fd> NewSocket(int family) {
  Fd fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return Status::Unknown("cannot make a socket: " + ErrnoText(errno));
  return fd;
}

Result<Fd> StartConnectTo(const Endpoint& endpoint, const Address& to) {
  HVDX_ASSIGN_OR_RETURN(Fd fd, NewSocket(endpoint.storage.ss_family));
  SendAtOnce(fd.get());
  if (::connect(fd.get(), endpoint.get(), endpoint.size) != 0 && errno != EINPROGRESS) {
    return Status::Unknown("cannot connect to " + to.ToString() + ": " + ErrnoText(errno));
  }
  return fd;
}

}  // namespace

std::string ErrnoText(int error) { return std::generic_category().message(error); }

Status FromErrno(const std::string& what) {
  return Status::Unknown(what + ": " + ErrnoText(errno));
}

std::string Address::ToString() const {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<Address> ParseAddress(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const auto wrong = [&] {
    return Status::InvalidArgument("'" + text + "' is not an address; expected host:port");
  };
  if (colon == std::string::npos || colon == 0) return wrong();
  Address address;
  address.host = text.substr(0, colon);
  const bool bracketed = address.host.front() == '[' && address.host.back() == ']';
  if (bracketed) address.host = address.host.substr(1, address.host.size() - 2);
  if (address.host.empty()) return wrong();
  if (!bracketed && address.host.find(':') != std::string::npos) return wrong();
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + colon + 1, end, address.port);
  if (parsed.ec != std::errc() || parsed.ptr != end) return wrong();
  return address;
}

Result<std::string> AddressOfInterface(const std::string& name) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) {
    return Status::Unknown("cannot list the network interfaces: " + ErrnoText(errno));
  }
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
  std::string v4, v6;
  std::set<std::string> names;
  for (const ifaddrs* i = list; i != nullptr; i = i->ifa_next) {
    if (i->ifa_addr == nullptr) continue;
    const int family = i->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    names.insert(i->ifa_name);
    if (name != i->ifa_name) continue;
    Endpoint endpoint;
    endpoint.size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    std::memcpy(&endpoint.storage, i->ifa_addr, endpoint.size);
    std::string& first = family == AF_INET ? v4 : v6;
    if (first.empty()) first = ToAddress(endpoint).host;
  }
  if (!v4.empty()) return v4;
  if (!v6.empty()) return v6;
  std::string known;
  for (const std::string& each : names) known += (known.empty() ? "" : ", ") + each;
  return Status::InvalidArgument("no network interface '" + name +
                                 "' with an address; there are: " + known);
}

Result<Fd> ListenOn(const Address& where) {
  if (where.host.empty()) {
    return Status::InvalidArgument("no address to listen on was given (0.0.0.0 means all)");
  }
  HVDX_ASSIGN_OR_RETURN(const std::vector<Endpoint> endpoints, Resolve(where, false));
  const Endpoint& endpoint = endpoints.front();
  HVDX_ASSIGN_OR_RETURN(Fd fd, NewSocket(endpoint.storage.ss_family));
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (::bind(fd.get(), endpoint.get(), endpoint.size) != 0) {
    const int error = errno;
    const std::string what = "cannot listen on " + where.ToString() + ": ";
    if (error == EADDRINUSE) return Status::Unknown(what + "the port is in use");
    if (error == EADDRNOTAVAIL) return Status::Unknown(what + "this machine has no such address");
    return Status::Unknown(what + ErrnoText(error));
  }
  if (::listen(fd.get(), SOMAXCONN) != 0) {
    return Status::Unknown("cannot listen on " + where.ToString() + ": " + ErrnoText(errno));
  }
  return fd;
}

Result<Fd> AcceptFrom(int listener) {
  while (true) {
    Fd fd(::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd.valid()) {
      SendAtOnce(fd.get());
      return fd;
    }
    if (errno == EAGAIN) return Fd();
    // A connection that ended before it was accepted (and other network errors that accept passes
    // on) says nothing about the listener.
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM ||
        errno == EBADF || errno == EINVAL || errno == ENOTSOCK) {
      return Status::Unknown("cannot accept a connection: " + ErrnoText(errno));
    }
  }
}

Result<Fd> StartConnect(const Address& to) {
  HVDX_ASSIGN_OR_RETURN(const std::vector<Endpoint> endpoints, Resolve(to, true));
  return StartConnectTo(endpoints.front(), to);
}

Status FinishConnect(int fd, const Address& to) {
  int error = 0;
  socklen_t size = sizeof(error);
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  if (error == 0) return Status::Ok();
  return Status::Unknown("cannot connect to " + to.ToString() + ": " + ErrnoText(error));
}

Result<Fd> ConnectTo(const Address& to, const Deadline& deadline) {
  HVDX_ASSIGN_OR_RETURN(const std::vector<Endpoint> endpoints, Resolve(to, false));
  Status failure;
  for (const Endpoint& endpoint : endpoints) {
    Result<Fd> fd = StartConnectTo(endpoint, to);
    failure = fd.status();
    if (!failure.ok()) continue;
    if (!WaitFor(fd->get(), POLLOUT, deadline)) {
      return Status::Unknown("cannot connect to " + to.ToString() + ": no answer in time");
    }
    failure = FinishConnect(fd->get(), to);
    if (failure.ok()) return fd;
  }
  return failure;
}

Result<Address> LocalAddressOf(int fd) {
  Endpoint endpoint;
  endpoint.size = sizeof(endpoint.storage);
  if (::getsockname(fd, endpoint.get(), &endpoint.size) != 0) {
    return Status::Unknown("a socket has no address: " + ErrnoText(errno));
  }
  return ToAddress(endpoint);
}

Result<Address> PeerAddressOf(int fd) {
  Endpoint endpoint;
  endpoint.size = sizeof(endpoint.storage);
  if (::getpeername(fd, endpoint.get(), &endpoint.size) != 0) {
    return Status::Unknown("a socket has no peer: " + ErrnoText(errno));
  }
  return ToAddress(endpoint);
}

void ProbeWhenIdle(int fd) {
  const int on = 1, idle = 4, interval = 2, count = 3;
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
}

bool WaitFor(int fd, short events, const Deadline& deadline) {
  pollfd wait{fd, events, 0};
  while (true) {
    // Rounded up, so that the last turn does not spin for the rest of a millisecond.
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline.Left());
    const int ready = ::poll(&wait, 1, static_cast<int>(left.count()));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return true;  // the next call on the descriptor says what
    if (deadline.Passed()) return false;
  }
}

}  // namespace horovodx

#include "horovodx/transport/process/address.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "horovodx/base/socket.h"

namespace horovodx::transport::process {
namespace {

constexpr char kThisHost[] = "127.0.0.1";

std::string Numeric(const sockaddr* address) {
  char text[NI_MAXHOST];
  const int error =
      ::getnameinfo(address, sizeof(sockaddr_in), text, sizeof(text), nullptr, 0, NI_NUMERICHOST);
  return error == 0 ? text : std::string();
}

// IPv4, up, and not the loopback.
std::vector<LocalAddress> OutwardAddresses() {
  std::vector<LocalAddress> found;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return found;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    if ((one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0) continue;
    found.push_back({one->ifa_name, Numeric(one->ifa_addr)});
  }
  return found;
}

std::vector<std::string> MeaningsOf(const std::string& hostname) {
  std::vector<std::string> found;
  addrinfo wanted{};
  wanted.ai_family = AF_INET;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (::getaddrinfo(hostname.c_str(), nullptr, &wanted, &list) != 0) return found;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, ::freeaddrinfo);
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    found.push_back(Numeric(one->ai_addr));
  }
  return found;
}

bool IsBridge(const std::string& interface) {
  for (const char* prefix : {"docker", "br-", "virbr", "veth", "cni", "lxc"}) {
    if (std::string_view(interface).starts_with(prefix)) return true;
  }
  return false;
}

}  // namespace

std::string MostReachable(const std::vector<LocalAddress>& candidates,
                          const std::vector<std::string>& meanings_of_hostname) {
  for (const std::string& meaning : meanings_of_hostname) {
    for (const LocalAddress& candidate : candidates) {
      if (candidate.address == meaning) return meaning;
    }
  }
  for (const LocalAddress& candidate : candidates) {
    if (!IsBridge(candidate.interface)) return candidate.address;
  }
  return candidates.empty() ? "" : candidates.front().address;
}

Result<std::string> ChooseAddress(const Options& options, bool one_host) {
  if (!options.address.empty()) return options.address;
  if (!options.interface.empty()) return AddressOfInterface(options.interface);
  if (one_host) return std::string(kThisHost);
  const std::string best = MostReachable(OutwardAddresses(), MeaningsOf(options.hostname));
  if (!best.empty()) return best;
  return Status::Unknown("rank " + std::to_string(options.rank) + " on " + options.hostname +
                         " has no network address that other hosts could reach");
}

}  // namespace horovodx::transport::process

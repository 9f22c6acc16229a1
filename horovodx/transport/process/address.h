// Which address of this machine to listen on.
#pragma once

#include <string>
#include <vector>

#include "horovodx/base/status.h"
#include "horovodx/transport/process/options.h"

namespace horovodx::transport::process {

// An address of this machine, and the interface it belongs to.
struct LocalAddress {
  std::string interface;
  std::string address;  // numeric
};

// Of those given, the one that other hosts most likely reach: what this host's name means to
// others, else the first that is not of a bridge to containers or virtual machines. Empty if there
// is none. Pure.
std::string MostReachable(const std::vector<LocalAddress>& candidates,
                          const std::vector<std::string>& meanings_of_hostname);

// By the options; `one_host`: nobody else needs to reach it. Looking up the host's name takes the
// system's own time.
Result<std::string> ChooseAddress(const Options& options, bool one_host);

}  // namespace horovodx::transport::process

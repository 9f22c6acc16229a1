// Place: what one rank says of itself at the roll call. Pure.
#pragma once

#include <string>
#include <vector>

#include "horovodx/base/status.h"
#include "horovodx/topology/host_map.h"
#include "horovodx/transport/process/options.h"

namespace horovodx::transport::process {

struct Place {
  bool force_tcp = false;
  bool tls = false;
  std::string process;  // a random word: tells two processes apart that say the same rank
  Told told;
  std::string hostname;

  std::string ToWord() const;  // one line
};
// False if it is none.
bool ParsePlace(const std::string& word, Place* place);

// A launcher that says where ranks are must say what HOROVOD_HOSTNAME says: an error names the
// first variable that does not, on whichever rank, so that all ranks fail alike. Cross numbers are
// only reported: nothing depends on them.
Status CheckTold(const topology::HostMap& hosts, const std::vector<Place>& places);
// "" if the cross numbers that `rank` was told are right, or it was told none.
std::string DoubtsAboutCross(const topology::HostMap& hosts, int rank, const Told& told);

}  // namespace horovodx::transport::process

// Roll call: all ranks of a job say where they are, and hear it of all others.
//
// Two rounds, since what a rank can say in the second (where it listens, whether its host shares
// memory) depends on what it heard in the first (who is on its host). Each round is one agreement.
//
// Thread: the caller's; blocks until all ranks have answered or the deadline.
#pragma once

#include <string>
#include <vector>

#include "horovodx/base/clock.h"
#include "horovodx/base/socket.h"
#include "horovodx/base/status.h"
#include "horovodx/rendezvous/store.h"
#include "horovodx/topology/host_map.h"
#include "horovodx/transport/agreement.h"
#include "horovodx/transport/process/options.h"

namespace horovodx::transport::process {

struct Places {
  topology::HostMap hosts;
  bool force_tcp = false;  // somebody wants it
};
[[nodiscard]] Result<Places> CallPlaces(const Options& options, rendezvous::Store& store,
                                        const std::string& job, const Deadline& deadline);

struct Doors {
  std::vector<Address> addresses;  // by rank
  // Empty if every host shares memory; else why the first that does not does not.
  std::string why_not_shared;
};
[[nodiscard]] Result<Doors> CallDoors(const Council& world, const Address& mine,
                                      const std::string& why_not_shared, const Deadline& deadline);

// "rank 3 on node7".
std::string NameOf(const topology::HostMap& hosts, int rank);
// Where a rank of the job (`job` starts all its keys) says why it gave up.
std::string NoteKey(const std::string& job, int rank);
// The council of these ranks about `question`; mine is among them. `missed`: see Council.
Council CouncilOf(rendezvous::Store& store, const std::string& job, const std::string& question,
                  const topology::HostMap& hosts, const std::vector<int>& ranks, int rank,
                  const std::string& missed);

}  // namespace horovodx::transport::process

// Fabric: what one rank of a job is connected by: its bell, its courier, and meshes on demand.
//
// loopback::World joins threads of one process; process::ProcessFabric joins processes, by
// shared memory inside a host and TCP between hosts.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "horovodx/base/bell.h"
#include "horovodx/topology/host_map.h"
#include "horovodx/transport/courier.h"
#include "horovodx/transport/mesh.h"

namespace horovodx::transport {

class Fabric {
 public:
  virtual ~Fabric() = default;
  virtual int rank() const = 0;
  virtual const topology::HostMap& hosts() const = 0;
  virtual Bell bell() const = 0;
  virtual Courier& courier() = 0;
  // Makes the mesh of one channel. Collective over `members` (global ranks, ascending, including
  // mine): each calls it with the same arguments; blocks until all have, or the deadline. `channel`
  // is never reused within a job.
  virtual Result<std::unique_ptr<Mesh>> MakeMesh(std::uint32_t channel,
                                                 const std::vector<int>& members,
                                                 const Deadline& deadline) = 0;
  // For a rank that cannot start because a peer broke off: the reason of who broke off first.
  // (Engines that run tell each other.)
  virtual Status Explain(Status status) { return status; }
};

}  // namespace horovodx::transport

// InProcessWorld: N ranks as threads of one process, over loopback links.
#pragma once

#include <functional>

#include "horovodx/collectives/team.h"
#include "horovodx/topology/host_map.h"
#include "horovodx/transport/loopback/world.h"

namespace horovodx::testing_support {

class InProcessWorld {
 public:
  explicit InProcessWorld(int ranks, transport::loopback::WorldOptions options = {});
  explicit InProcessWorld(topology::HostMap hosts, transport::loopback::WorldOptions options = {});

  int size() const { return world_.hosts().size(); }
  transport::loopback::World& world() { return world_; }

  // Runs `body` once per rank, each on its own thread with its team of all ranks; returns when all
  // have returned. Each call is a new channel.
  void Run(const std::function<void(collectives::Team&)>& body);
  // The same with the rank's mesh, for tests of what lies below a team.
  void RunOnMesh(const std::function<void(transport::Mesh&)>& body);

 private:
  transport::loopback::World world_;
  std::uint32_t channel_ = 0;
};

}  // namespace horovodx::testing_support

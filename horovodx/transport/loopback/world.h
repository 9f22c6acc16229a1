// The loopback transport: ranks are threads of one process. The base of most tests, and of
// single-process jobs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "horovodx/base/bell.h"
#include "horovodx/base/mutex.h"
#include "horovodx/topology/host_map.h"
#include "horovodx/transport/fabric.h"

namespace horovodx::transport::loopback {

struct WorldOptions {
  std::size_t ring_bytes = 64 << 10;
  std::size_t slot_bytes = 256 << 10;
  int slots = 4;
  bool stages = true;  // false: as if no shared memory were to be had
};

class Mailbox;
struct Channel;

// What all ranks share. Makes one Fabric a rank; outlives them.
class World {
 public:
  explicit World(topology::HostMap hosts, WorldOptions options = {});
  ~World();

  // The fabric of one rank; any thread, any number of times one after another.
  std::unique_ptr<Fabric> Join(int rank);
  // As if the process of `rank` had died: its neighbours hear of it, nothing more comes from it.
  void Kill(int rank);

  const topology::HostMap& hosts() const { return hosts_; }

 private:
  friend class LoopbackFabric;
  std::shared_ptr<Channel> Enter(std::uint32_t channel, const std::vector<int>& members);

  topology::HostMap hosts_;
  WorldOptions options_;
  std::vector<std::unique_ptr<BellWord>> bells_;
  std::vector<std::unique_ptr<Mailbox>> mailboxes_;
  Mutex mutex_;
  // Kept by the world for its whole life: a fabric may be gone while others still use the channel.
  std::map<std::uint32_t, std::shared_ptr<Channel>> channels_ HVDX_GUARDED_BY(mutex_);
};

}  // namespace horovodx::transport::loopback

// The fabric of a rank that is alone in its job: no store, no sockets, no shared memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "horovodx/transport/fabric.h"
#include "horovodx/transport/loopback/world.h"

namespace horovodx::transport::process {

class SoloFabric : public Fabric {
 public:
  explicit SoloFabric(const std::string& hostname)
      : world_(topology::HostMap(std::vector<std::string>{hostname})), rank_(world_.Join(0)) {}

  int rank() const override { return 0; }
  const topology::HostMap& hosts() const override { return world_.hosts(); }
  Bell bell() const override { return rank_->bell(); }
  transport::Courier& courier() override { return rank_->courier(); }
  Result<std::unique_ptr<Mesh>> MakeMesh(std::uint32_t channel, const std::vector<int>& members,
                                         const Deadline& deadline) override {
    return rank_->MakeMesh(channel, members, deadline);
  }

 private:
  loopback::World world_;
  std::unique_ptr<Fabric> rank_;
};

}  // namespace horovodx::transport::process

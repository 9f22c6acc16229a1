// The mesh of a channel between processes: shared memory inside a host, TCP between hosts.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "horovodx/transport/mesh.h"
#include "horovodx/transport/shm/channel.h"
#include "horovodx/transport/tcp/link_factory.h"

namespace horovodx::transport::process {

class ProcessMesh : public Mesh {
 public:
  // `members` are ranks of the world, `hosts` is the world's; `me` is my place among the members.
  // `local` is what the members on my host share, or null: then everything is TCP. `factory` is
  // borrowed and outlives the mesh.
  ProcessMesh(std::uint32_t channel, std::vector<int> members, int me,
              const topology::HostMap& hosts, std::unique_ptr<shm::Channel> local,
              tcp::LinkFactory& factory);

  OutLink& Out(int member) override;
  InLink& In(int member) override;
  Stage* stage() override { return local_ != nullptr ? &local_->stage() : nullptr; }

 private:
  bool Shares(int member) const;

  std::uint32_t channel_;
  std::vector<int> members_;
  std::unique_ptr<shm::Channel> local_;
  tcp::LinkFactory& factory_;
  std::vector<std::unique_ptr<OutLink>> out_;  // by member; made on first use
  std::vector<std::unique_ptr<InLink>> in_;
};

}  // namespace horovodx::transport::process

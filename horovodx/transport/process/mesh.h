// The mesh of a channel between processes: shared memory inside a host, TCP or MPI between hosts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "horovodx/transport/mesh.h"
#include "horovodx/transport/mpi/post.h"
#include "horovodx/transport/shm/channel.h"
#include "horovodx/transport/tcp/link_factory.h"

namespace horovodx::transport::process {

class ProcessMesh : public Mesh {
 public:
  // `members` are ranks of the world, `hosts` is the world's; `me` is my place among the members.
  // `local` is what the members on my host share, or null: then everything goes as between hosts,
  // which is by MPI if `post` is not null. `factory` and `post` are borrowed and outlive the mesh.
  ProcessMesh(std::uint32_t channel, std::vector<int> members, int me,
              const topology::HostMap& hosts, std::unique_ptr<shm::Channel> local,
              tcp::LinkFactory& factory, mpi::Post* post = nullptr);

  OutLink& Out(int member) override;
  InLink& In(int member) override;
  Stage* stage() override { return local_ != nullptr ? &local_->stage() : nullptr; }
  NativeAllreduce* native() override { return native_.get(); }
  int streams() const override { return post_ != nullptr ? 1 : factory_.streams(); }

 private:
  bool Shares(int member) const;
  std::string NameByMpi(int member) const;

  std::uint32_t channel_;
  std::vector<int> members_;
  std::unique_ptr<shm::Channel> local_;
  tcp::LinkFactory& factory_;
  mpi::Post* post_;
  std::unique_ptr<NativeAllreduce> native_;
  std::vector<std::unique_ptr<OutLink>> out_;  // by member; made on first use
  std::vector<std::unique_ptr<InLink>> in_;
};

}  // namespace horovodx::transport::process

#include "horovodx/transport/process/mesh.h"

#include <utility>

#include "horovodx/transport/mpi/allreduce.h"
#include "horovodx/transport/mpi/link.h"

namespace horovodx::transport::process {

ProcessMesh::ProcessMesh(std::uint32_t channel, std::vector<int> members, int me,
                         const topology::HostMap& hosts, std::unique_ptr<shm::Channel> local,
                         tcp::LinkFactory& factory, mpi::Post* post)
    : Mesh(me, hosts.Subset(members), factory.io().bell(), &factory.io()),
      channel_(channel),
      members_(std::move(members)),
      local_(std::move(local)),
      factory_(factory),
      post_(post),
      out_(members_.size()),
      in_(members_.size()) {
  if (post_ == nullptr) return;
  native_ = std::make_unique<mpi::MpiAllreduce>(post_->library(), post_->comm(), members_,
                                                static_cast<int>(channel_), interrupt());
}

bool ProcessMesh::Shares(int member) const {
  return local_ != nullptr && hosts().host_of(member) == hosts().host_of(rank());
}

std::string ProcessMesh::NameByMpi(int member) const {
  return "rank " + std::to_string(members_[member]) + " (" +
         hosts().host_name(hosts().host_of(member)) + ", mpi)";
}

OutLink& ProcessMesh::Out(int member) {
  if (Shares(member)) return local_->Out(hosts().local_rank(member));
  if (out_[member] == nullptr && post_ != nullptr) {
    out_[member] = std::make_unique<mpi::MpiOutLink>(*post_, members_[member],
                                                     static_cast<int>(channel_), NameByMpi(member));
  } else if (out_[member] == nullptr) {
    out_[member] = factory_.MakeOut(channel_, members_[member], streams_in_use_);
  }
  return *out_[member];
}

InLink& ProcessMesh::In(int member) {
  if (Shares(member)) return local_->In(hosts().local_rank(member));
  if (in_[member] == nullptr && post_ != nullptr) {
    in_[member] = std::make_unique<mpi::MpiInLink>(*post_, members_[member],
                                                   static_cast<int>(channel_), NameByMpi(member));
  } else if (in_[member] == nullptr) {
    in_[member] = factory_.MakeIn(channel_, members_[member]);
  }
  return *in_[member];
}

}  // namespace horovodx::transport::process

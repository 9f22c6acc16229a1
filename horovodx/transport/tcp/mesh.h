// A mesh whose links are all TCP, without a stage.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "horovodx/transport/mesh.h"
#include "horovodx/transport/tcp/link_factory.h"

namespace horovodx::transport::tcp {

class Mesh : public transport::Mesh {
 public:
  // `members` are ranks of the world, ascending, mine among them; `hosts` is the world's. `factory`
  // is borrowed and outlives the mesh. Connects nothing: links do, when used.
  Mesh(LinkFactory& factory, std::uint32_t channel, std::vector<int> members,
       const topology::HostMap& hosts);

  OutLink& Out(int member) override;
  InLink& In(int member) override;
  int streams() const override { return factory_.streams(); }

 private:
  LinkFactory& factory_;
  std::uint32_t channel_;
  std::vector<int> members_;
  std::vector<std::unique_ptr<OutLink>> out_;  // by member; made on first use
  std::vector<std::unique_ptr<InLink>> in_;
};

}  // namespace horovodx::transport::tcp

#include "horovodx/transport/tcp/mesh.h"

#include <algorithm>
#include <utility>

#include "horovodx/base/check.h"

namespace horovodx::transport::tcp {
namespace {

int PlaceOf(int rank, const std::vector<int>& members) {
  const auto it = std::find(members.begin(), members.end(), rank);
  HVDX_CHECK(it != members.end());
  return static_cast<int>(it - members.begin());
}

}  // namespace

Mesh::Mesh(LinkFactory& factory, std::uint32_t channel, std::vector<int> members,
           const topology::HostMap& hosts)
    : transport::Mesh(PlaceOf(factory.rank(), members), hosts.Subset(members), factory.io().bell(),
                      &factory.io()),
      factory_(factory),
      channel_(channel),
      members_(std::move(members)),
      out_(members_.size()),
      in_(members_.size()) {}

OutLink& Mesh::Out(int member) {
  HVDX_DCHECK(member != rank());
  auto& link = out_[member];
  if (link == nullptr) link = factory_.MakeOut(channel_, members_[member], streams_in_use_);
  return *link;
}

InLink& Mesh::In(int member) {
  HVDX_DCHECK(member != rank());
  auto& link = in_[member];
  if (link == nullptr) link = factory_.MakeIn(channel_, members_[member]);
  return *link;
}

}  // namespace horovodx::transport::tcp

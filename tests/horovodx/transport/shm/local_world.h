// Ranks of one host that meet through a store and share memory: what the tests of shm run on.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "horovodx/rendezvous/store.h"
#include "horovodx/transport/shm/bells.h"
#include "horovodx/transport/shm/mesh.h"
#include "horovodx/transport/shm/share.h"

namespace horovodx::transport::shm {

// One rank's part. The bells outlive the mesh.
struct LocalRank {
  std::unique_ptr<Bells> bells;
  std::unique_ptr<Mesh> mesh;
};

inline Council CouncilOf(rendezvous::Store& store, const std::string& key, int rank, int ranks) {
  std::vector<std::string> names;
  for (int other = 0; other < ranks; ++other) names.push_back("rank " + std::to_string(other));
  return Council(store, key, names, rank, "it has not come");
}

inline Result<LocalRank> JoinLocal(rendezvous::Store& store, int rank, int ranks,
                                   const ShareOptions& options, const Deadline& deadline,
                                   const ChannelSizes& sizes = {}) {
  const Council council = CouncilOf(store, "job", rank, ranks);
  const auto share = [&](const std::string& what, const Shape& shape) -> Result<Segment> {
    HVDX_ASSIGN_OR_RETURN(Shared shared,
                          ShareSegment(council.About(what), shape, options, deadline));
    if (!shared.segment.has_value()) return Status::Aborted(shared.why_not);
    return std::move(*shared.segment);
  };
  HVDX_ASSIGN_OR_RETURN(Segment bells, share("bells", Bells::ShapeFor(ranks)));
  LocalRank joined;
  joined.bells = std::make_unique<Bells>(std::move(bells));
  const ChannelLayout layout(ranks, sizes);
  HVDX_ASSIGN_OR_RETURN(Segment segment, share("channel", layout.shape()));
  std::vector<Member> members;
  for (int other = 0; other < ranks; ++other) {
    members.push_back(
        {"rank " + std::to_string(other) + " (shared memory)", joined.bells->of(other)});
  }
  joined.mesh = std::make_unique<LocalMesh>(
      std::make_unique<Channel>(std::move(segment), layout, rank, members), rank,
      topology::HostMap::OneHost(ranks), Bell(joined.bells->of(rank)));
  return joined;
}

}  // namespace horovodx::transport::shm

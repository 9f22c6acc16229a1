// How the tests of the process fabric join: all on this machine, with hosts told apart by name.
#pragma once

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "horovodx/transport/process/fabric.h"

namespace horovodx::transport::process {

inline Options OptionsOf(int rank, int size, const std::string& hostname) {
  Options options;
  options.rank = rank;
  options.size = size;
  options.hostname = hostname;
  options.address = "127.0.0.1";
  options.secret = "a secret of the test";
  options.job_id = "test";
  return options;
}

inline std::vector<int> Everyone(int size) {
  std::vector<int> ranks(size);
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

// A fabric and its first mesh.
struct Joined {
  std::unique_ptr<Fabric> fabric;
  std::unique_ptr<Mesh> mesh;
};

inline Result<Joined> JoinAndMesh(const Options& options, rendezvous::Store& store,
                                  const Deadline& deadline) {
  Joined joined;
  HVDX_ASSIGN_OR_RETURN(joined.fabric, ProcessFabric::Join(options, store, deadline));
  HVDX_ASSIGN_OR_RETURN(joined.mesh, joined.fabric->MakeMesh(0, Everyone(options.size), deadline));
  return joined;
}

}  // namespace horovodx::transport::process

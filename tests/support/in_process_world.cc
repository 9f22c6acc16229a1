#include "tests/support/in_process_world.h"

#include <gtest/gtest.h>

#include <numeric>
#include <thread>
#include <vector>

namespace horovodx::testing_support {

InProcessWorld::InProcessWorld(int ranks, transport::loopback::WorldOptions options)
    : InProcessWorld(topology::HostMap::OneHost(ranks), options) {}

InProcessWorld::InProcessWorld(topology::HostMap hosts, transport::loopback::WorldOptions options)
    : world_(std::move(hosts), options) {}

void InProcessWorld::RunOnMesh(const std::function<void(transport::Mesh&)>& body) {
  const std::uint32_t channel = channel_++;
  std::vector<int> members(size());
  std::iota(members.begin(), members.end(), 0);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < size(); ++rank) {
    ranks.emplace_back([&, rank] {
      auto fabric = world_.Join(rank);
      auto mesh = fabric->MakeMesh(channel, members, Deadline::After(Seconds(30)));
      ASSERT_TRUE(mesh.ok()) << mesh.status().ToString();
      body(**mesh);
    });
  }
  for (auto& rank : ranks) rank.join();
}

void InProcessWorld::Run(const std::function<void(collectives::Team&)>& body) {
  RunOnMesh([&](transport::Mesh& mesh) {
    collectives::Team team(mesh);
    body(team);
  });
}

}  // namespace horovodx::testing_support

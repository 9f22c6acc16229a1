// What the tests of allgather, broadcast, alltoall, reducescatter and barrier share.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "horovodx/base/bytes.h"
#include "horovodx/collectives/team.h"
#include "tests/support/in_process_world.h"

namespace horovodx::testing_support {

using collectives::Team;
using collectives::Traffic;

// Rings far smaller than most messages: links fill up, ranks must read while they write.
inline transport::loopback::WorldOptions NarrowLinks() {
  return {.ring_bytes = 4 << 10, .slot_bytes = 4 << 10};
}

// Teams of every size up to 17 on one host, and spread over hosts in blocks and in turns.
inline std::vector<topology::HostMap> EveryHostMap() {
  std::vector<topology::HostMap> maps;
  for (int ranks = 1; ranks <= 17; ++ranks) {
    maps.push_back(topology::HostMap::OneHost(ranks));
  }
  maps.push_back(topology::HostMap::Grid(2, 3));
  maps.push_back(topology::HostMap::Grid(4, 2));
  maps.push_back(topology::HostMap({"a", "b", "c", "a", "b"}));
  return maps;
}

// Runs `body` once per rank of every such team.
inline void OnEveryTeam(const std::function<void(Team&)>& body) {
  for (const auto& map : EveryHostMap()) {
    SCOPED_TRACE(std::to_string(map.size()) + " ranks on " + std::to_string(map.hosts()) +
                 " hosts");
    InProcessWorld(map, NarrowLinks()).Run(body);
    if (testing::Test::HasFailure()) return;
  }
}

// Byte `i` of what `rank` brings.
inline std::byte Content(int rank, std::size_t i) {
  return static_cast<std::byte>((i * 131 + static_cast<std::size_t>(rank) * 37 + i / 251) & 0xff);
}

// The memory in three pieces (one of them empty), to show that pieces do not matter.
inline std::vector<MutableBytes> InPieces(MutableBytes memory) {
  const std::size_t cut = memory.size() / 3;
  return {memory.first(cut), memory.subspan(cut, 0), memory.subspan(cut)};
}

// What `operation` sent, of its own.
inline Traffic SentDuring(Team& team, const std::function<void()>& operation) {
  const Traffic before = team.traffic();
  operation();
  const Traffic after = team.traffic();
  return {after.messages - before.messages, after.bytes - before.bytes};
}

inline void ExpectSent(const Traffic& sent, const Traffic& formula) {
  EXPECT_EQ(sent.messages, formula.messages);
  EXPECT_EQ(sent.bytes, formula.bytes);
}

// `operation` cannot end without rank `absent`, which does not come: the others are interrupted and
// must return the interrupt's Status. Then all start a new epoch, and it must succeed. (The absent
// rank does not wait for the others to give up: what it sends early must not count as having come.)
inline void ExpectInterruptible(const topology::HostMap& hosts, int absent,
                                const std::function<Status(Team&)>& operation) {
  InProcessWorld world(hosts, NarrowLinks());
  world.RunOnMesh([&](transport::Mesh& mesh) {
    Team team(mesh);
    if (mesh.rank() != absent) {
      std::thread stopper([&] { mesh.interrupt().Raise(Status::Cancelled("plan left")); });
      const Status status = operation(team);
      stopper.join();
      EXPECT_EQ(status.code(), StatusCode::kCancelled) << status.ToString();
      EXPECT_EQ(status.message(), "plan left");
      mesh.interrupt().Clear();
    }
    team.EnterEpoch(1);
    const Status again = operation(team);
    EXPECT_TRUE(again.ok()) << again.ToString();
  });
}

inline void ExpectInterruptible(int ranks, int absent,
                                const std::function<Status(Team&)>& operation) {
  ExpectInterruptible(topology::HostMap::OneHost(ranks), absent, operation);
}

}  // namespace horovodx::testing_support

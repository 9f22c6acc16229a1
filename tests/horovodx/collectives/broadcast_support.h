// What every form of broadcast must do.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tests/horovodx/collectives/gather_support.h"

namespace horovodx::testing_support {

using BroadcastCall = std::function<Status(Team&, int root, std::span<const MutableBytes>)>;
using BroadcastCost = std::function<Traffic(std::size_t bytes, int ranks, int root, int rank)>;

inline std::vector<std::byte> FromRoot(int root, std::size_t size) {
  std::vector<std::byte> content(size);
  for (std::size_t i = 0; i < size; ++i) content[i] = Content(root, i);
  return content;
}

inline void ExpectBroadcasts(Team& team, int root, std::size_t size, const BroadcastCall& broadcast,
                             const BroadcastCost& cost) {
  const auto expected = FromRoot(root, size);
  auto buffer = team.rank() == root ? expected : std::vector<std::byte>(size, std::byte{0xEE});
  // Pieces may be cut differently on every rank.
  const std::size_t cut = size / (static_cast<std::size_t>(team.rank()) + 1);
  const std::vector<MutableBytes> pieces{MutableBytes(buffer).first(cut), MutableBytes(),
                                         MutableBytes(buffer).subspan(cut)};
  const auto sent = SentDuring(team, [&] {
    const Status status = broadcast(team, root, pieces);
    ASSERT_TRUE(status.ok()) << status.ToString();
  });
  EXPECT_TRUE(buffer == expected) << "rank " << team.rank() << ", root " << root;
  ExpectSent(sent, cost(size, team.size(), root, team.rank()));
}

inline void ExpectBroadcastsEverywhere(const BroadcastCall& broadcast, const BroadcastCost& cost) {
  OnEveryTeam([&](Team& team) {
    for (std::size_t size : {0, 1, 16, 1000, 30'011}) {
      for (int root : {0, team.size() / 2, team.size() - 1}) {
        ExpectBroadcasts(team, root, size, broadcast, cost);
      }
    }
  });
}

inline void ExpectBroadcastInterruptible(const BroadcastCall& broadcast) {
  for (int root : {0, 3}) {
    ExpectInterruptible(5, root, [&](Team& team) {
      auto buffer = FromRoot(team.rank(), 30'000);
      const MutableBytes whole(buffer);
      const Status status = broadcast(team, root, {&whole, 1});
      // Nothing came from the root: nothing may have changed.
      EXPECT_TRUE(buffer == FromRoot(status.ok() ? root : team.rank(), buffer.size()));
      return status;
    });
  }
}

}  // namespace horovodx::testing_support

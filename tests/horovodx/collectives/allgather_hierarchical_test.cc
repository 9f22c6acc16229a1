#include "horovodx/collectives/allgather_hierarchical.h"

#include "horovodx/collectives/allgather_ring.h"
#include "tests/horovodx/collectives/allgather_support.h"

namespace horovodx::collectives {
namespace {

using namespace testing_support;  // NOLINT: the support of this very test

TEST(AllgatherHierarchicalTest, GathersBlocksOfAnySizeForAnyTeam) {
  OnEveryTeam([](Team& team) {
    const auto cost = [&](const Blocks& blocks, int rank) {
      return CostOfAllgatherHierarchical(blocks, team.hosts(), rank);
    };
    for (const auto& sizes : BlockSizes(team.size())) {
      ExpectGathers(team, Blocks::Packed(sizes), AllgatherHierarchical, cost);
      ExpectGathers(team, BackToFront(sizes), AllgatherHierarchical, cost);
    }
  });
}

TEST(AllgatherHierarchicalTest, GathersAmongHostsOfThreeTwoAndFourRanks) {
  const topology::HostMap uneven({"a", "b", "c", "a", "c", "b", "c", "a", "c"});
  InProcessWorld(uneven, NarrowLinks()).Run([&](Team& team) {
    for (const auto& sizes : BlockSizes(team.size())) {
      ExpectGathers(team, BackToFront(sizes), AllgatherHierarchical,
                    [&](const Blocks& blocks, int rank) {
                      return CostOfAllgatherHierarchical(blocks, uneven, rank);
                    });
    }
  });
}

TEST(AllgatherHierarchicalTest, CostOfEqualBlocksIsTheFormula) {
  // Three hosts of two ranks, 600 bytes each: one block in the host, two slices of the host's 1,200
  // bytes between hosts, and all that came from other hosts to the neighbour.
  const Traffic cost =
      CostOfAllgatherHierarchical(Blocks::Rows(6, 600, 6), topology::HostMap::Grid(3, 2), 1);
  EXPECT_EQ(cost.messages, 1u + 2u + 1u);
  EXPECT_EQ(cost.bytes, 600u + 2u * 600u + 1200u);
}

TEST(AllgatherHierarchicalTest, EntersEachHostOnceWhereARingEntersAtEveryRank) {
  // Ranks dealt out in turns: each of a ring's messages goes to another host.
  const topology::HostMap in_turns({"a", "b", "a", "b", "a", "b"});
  const Blocks blocks = Blocks::Rows(6, 3000, 6);
  std::uint64_t ring = 0;
  std::uint64_t between = 0;
  for (int rank = 0; rank < 6; ++rank) {
    ring += CostOfAllgatherRing(blocks, rank).bytes;
    const Traffic all = CostOfAllgatherHierarchical(blocks, in_turns, rank);
    between += all.bytes - 2 * 3000 - 2 * 3000;  // less what stays inside: own host's, and others'
  }
  EXPECT_EQ(ring, 6u * 5 * 3000);
  EXPECT_EQ(between, 2u * 3 * 3000) << "each host's 9,000 bytes, once to the other host";
}

TEST(AllgatherHierarchicalTest, GivesUpWhenInterrupted) {
  ExpectAllgatherInterruptible(AllgatherHierarchical, topology::HostMap({"a", "b", "a", "b", "b"}));
}

TEST(AllgatherHierarchicalTest, RefusesBlocksBeyondTheOutput) {
  InProcessWorld(1).Run([](Team& team) {
    std::vector<std::byte> out(9);
    const MutableBytes whole(out);
    const Status status = AllgatherHierarchical(team, Blocks::Rows(1, 10, 1), {&whole, 1});
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  });
}

}  // namespace
}  // namespace horovodx::collectives

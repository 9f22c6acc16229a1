#include "horovodx/topology/host_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace horovodx::topology {
namespace {

using testing::ElementsAre;

TEST(HostMapTest, UnevenHostsHaveUnevenCrossGroups) {
  const HostMap map({"a", "a", "a", "b"});
  EXPECT_EQ(map.hosts(), 2);
  EXPECT_FALSE(map.homogeneous());
  EXPECT_THAT(map.ranks_on(0), ElementsAre(0, 1, 2));
  EXPECT_EQ(map.local_rank(3), 0);
  EXPECT_EQ(map.cross_rank(3), 1);
  EXPECT_EQ(map.cross_size(3), 2);
  EXPECT_EQ(map.cross_size(2), 1);
  EXPECT_EQ(map.cross_rank(2), 0);
}

TEST(HostMapTest, RanksOfAHostNeedNotBeContiguous) {
  const HostMap map({"a", "b", "a", "b"});
  EXPECT_THAT(map.ranks_on(1), ElementsAre(1, 3));
  EXPECT_EQ(map.local_rank(3), 1);
  EXPECT_EQ(map.leader_of(3), 1);
  EXPECT_TRUE(map.homogeneous());
}

TEST(HostMapTest, CrossRankSkipsHostsWithoutThatLocalRank) {
  const HostMap map({"a", "b", "b", "c", "c"});
  EXPECT_EQ(map.cross_rank(2), 0);
  EXPECT_EQ(map.cross_rank(4), 1);
  EXPECT_EQ(map.cross_size(4), 2);
}

TEST(HostMapTest, SubsetRenumbers) {
  const HostMap map = HostMap::Grid(2, 2).Subset({1, 2, 3});
  EXPECT_EQ(map.size(), 3);
  EXPECT_THAT(map.ranks_on(0), ElementsAre(0));
  EXPECT_THAT(map.ranks_on(1), ElementsAre(1, 2));
}

}  // namespace
}  // namespace horovodx::topology

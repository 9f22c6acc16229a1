#include "horovodx/transport/tcp/control_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace horovodx::transport::tcp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ControlTreeTest, RanksHangOnTheirHostsFirstRankAndThoseOnRankZero) {
  const topology::HostMap hosts({"a", "b", "a", "b", "c"});
  EXPECT_EQ(ParentOf(hosts, 0), -1);
  EXPECT_EQ(ParentOf(hosts, 1), 0);
  EXPECT_EQ(ParentOf(hosts, 2), 0);
  EXPECT_EQ(ParentOf(hosts, 3), 1);
  EXPECT_EQ(ParentOf(hosts, 4), 0);
  EXPECT_THAT(ChildrenOf(hosts, 0), ElementsAre(1, 2, 4));
  EXPECT_THAT(ChildrenOf(hosts, 1), ElementsAre(3));
  EXPECT_THAT(ChildrenOf(hosts, 4), IsEmpty());
}

}  // namespace
}  // namespace horovodx::transport::tcp

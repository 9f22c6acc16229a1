#include "horovodx/collectives/team.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#include "tests/support/in_process_world.h"

namespace horovodx::collectives {
namespace {

using testing::HasSubstr;
using testing_support::InProcessWorld;

ConstBytes Of(const std::vector<int>& v) { return BytesOf(v.data(), v.size() * sizeof(int)); }
MutableBytes Into(std::vector<int>& v) { return MutableBytesOf(v.data(), v.size() * sizeof(int)); }

TEST(TeamTest, ExchangeMovesMessagesOfAnySizeBothWays) {
  InProcessWorld world(2);
  world.Run([](Team& team) {
    for (std::size_t count : {0UL, 1UL, 1000UL, 65'536UL, 1'000'003UL}) {
      std::vector<int> out(count);
      std::iota(out.begin(), out.end(), team.rank() * 7);
      std::vector<int> in(count);
      const ConstBytes send = Of(out);
      const MutableBytes receive = Into(in);
      const int peer = 1 - team.rank();
      ASSERT_TRUE(team.Exchange(peer, {&send, 1}, peer, {&receive, 1}).ok());
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(in[i], static_cast<int>(i) + peer * 7);
    }
  });
}

TEST(TeamTest, ArrivalsAreReportedInOrderInWholeUnitsUpToTheEnd) {
  InProcessWorld world(2);
  world.Run([](Team& team) {
    std::vector<int> data(500'001, 5);
    if (team.rank() == 0) {
      ASSERT_TRUE(team.Send(1, Of(data)).ok());
      return;
    }
    std::size_t seen = 0;
    const MutableBytes into = Into(data);
    ASSERT_TRUE(team.Receive(0, {&into, 1}, sizeof(int),
                             [&](std::size_t begin, std::size_t end) {
                               EXPECT_EQ(begin, seen);
                               EXPECT_EQ(end % sizeof(int), 0u);
                               seen = end;
                             })
                    .ok());
    EXPECT_EQ(seen, data.size() * sizeof(int));
  });
}

TEST(TeamTest, MessageOfAnotherLengthIsAnErrorThatNamesTheSender) {
  InProcessWorld world(2);
  world.Run([](Team& team) {
    std::vector<int> data(team.rank() == 0 ? 3 : 4);
    if (team.rank() == 0) {
      ASSERT_TRUE(team.Send(1, Of(data)).ok());
    } else {
      const Status status = team.Receive(0, Into(data));
      EXPECT_THAT(status.message(), HasSubstr("rank 0"));
      EXPECT_THAT(status.message(), HasSubstr("12 bytes where 16 were expected"));
    }
  });
}

TEST(TeamTest, SilentPeerIsNamedAfterTheTimeLimit) {
  InProcessWorld world(2);
  world.Run([](Team& team) {
    if (team.rank() == 1) return;
    team.SetTimeLimit(Seconds(0.05));
    std::vector<int> data(4);
    EXPECT_THAT(team.Receive(1, Into(data)).message(), HasSubstr("for data from rank 1"));
  });
}

// Rank 0 gives up a message half-way (the ring is smaller than it); afterwards both start a new
// epoch and the next message must arrive whole, the old one's remains must not.
TEST(TeamTest, RemainsOfAnAbandonedMessageAreThrownAway) {
  for (int cut_short = 0; cut_short < 2; ++cut_short) {
    InProcessWorld world(2);
    std::atomic<bool> abandoned{false};
    world.RunOnMesh([&](transport::Mesh& mesh) {
      Team team(mesh);
      std::vector<int> big(1'000'000, 1);
      std::vector<int> data(300'000);
      if (mesh.rank() == 0) {
        std::thread stopper([&] { mesh.interrupt().Raise(Status::Cancelled("dropped")); });
        const Status status = team.Send(1, Of(big));
        stopper.join();
        EXPECT_EQ(status.code(), StatusCode::kCancelled);
        mesh.interrupt().Clear();
        abandoned = true;
        mesh.bell().Ring();
        team.EnterEpoch(1);
        std::iota(data.begin(), data.end(), 0);
        ASSERT_TRUE(team.Send(1, Of(data)).ok());
      } else {
        if (cut_short == 1) {  // this one also gives up in the middle of receiving
          mesh.interrupt().Raise(Status::Cancelled("dropped"));
          EXPECT_EQ(team.Receive(0, Into(big)).code(), StatusCode::kCancelled);
          mesh.interrupt().Clear();
        }
        while (!abandoned) std::this_thread::yield();
        team.EnterEpoch(1);
        ASSERT_TRUE(team.Receive(0, Into(data)).ok());
        for (int i = 0; i < 300'000; ++i) ASSERT_EQ(data[i], i);
      }
    });
  }
}

// Small ones are read together with what follows them.
TEST(TeamTest, SmallMessagesOfAnOlderEpochAreThrownAway) {
  InProcessWorld world(2);
  world.Run([](Team& team) {
    std::vector<int> data(5);
    if (team.rank() == 0) {
      for (const std::size_t old : {3UL, 0UL, 200UL, 5UL}) {
        ASSERT_TRUE(team.Send(1, Of(std::vector<int>(old, -1))).ok());
      }
    }
    team.EnterEpoch(1);
    for (int round = 0; round < 3; ++round) {
      if (team.rank() == 0) {
        std::iota(data.begin(), data.end(), round);
        ASSERT_TRUE(team.Send(1, Of(data)).ok());
      } else {
        ASSERT_TRUE(team.Receive(0, Into(data)).ok());
        for (int i = 0; i < 5; ++i) ASSERT_EQ(data[i], i + round);
      }
    }
  });
}

TEST(TeamTest, ASmallMessageOfALaterEpochWaitsForIt) {
  InProcessWorld world(2);
  std::atomic<bool> sent{false};
  world.RunOnMesh([&](transport::Mesh& mesh) {
    Team team(mesh);
    std::vector<int> data = {1, 2, 3};
    if (mesh.rank() == 0) {
      team.EnterEpoch(1);
      ASSERT_TRUE(team.Send(1, Of(data)).ok());
      ASSERT_TRUE(team.Send(1, Of(data)).ok());
      sent = true;
      return;
    }
    while (!sent) std::this_thread::yield();
    std::vector<int> old(3);
    team.SetTimeLimit(std::chrono::milliseconds(50));
    EXPECT_FALSE(team.Receive(0, Into(old)).ok());
    EXPECT_EQ(old, std::vector<int>(3)) << "not this one's";
    team.SetTimeLimit(std::chrono::seconds(30));
    team.EnterEpoch(1);
    for (int i = 0; i < 2; ++i) {
      std::vector<int> in(3);
      ASSERT_TRUE(team.Receive(0, Into(in)).ok());
      EXPECT_EQ(in, data);
    }
  });
}

TEST(TeamTest, SubTeamsTalkAmongThemselves) {
  InProcessWorld world(topology::HostMap::Grid(2, 2));
  world.Run([](Team& team) {
    const int host = team.hosts().host_of(team.rank());
    Team local = team.Sub(team.hosts().ranks_on(host));
    EXPECT_EQ(local.size(), 2);
    EXPECT_EQ(local.rank(), team.rank() % 2);
    EXPECT_NE(local.stage(), nullptr);
    EXPECT_EQ(team.stage(), nullptr);
    std::vector<int> mine{team.rank()};
    std::vector<int> other{-1};
    const ConstBytes send = Of(mine);
    const MutableBytes receive = Into(other);
    const int peer = 1 - local.rank();
    ASSERT_TRUE(local.Exchange(peer, {&send, 1}, peer, {&receive, 1}).ok());
    EXPECT_EQ(other[0], team.rank() ^ 1);
  });
}

}  // namespace
}  // namespace horovodx::collectives

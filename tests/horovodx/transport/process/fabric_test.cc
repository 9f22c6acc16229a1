#include "horovodx/transport/process/fabric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <future>

#include "horovodx/base/log.h"
#include "horovodx/rendezvous/memory_store.h"
#include "horovodx/transport/process/roll_call.h"
#include "tests/horovodx/transport/link_suite.h"
#include "tests/horovodx/transport/process/process_ranks.h"
#include "tests/support/forked_store.h"
#include "tests/support/process_world.h"

namespace horovodx::transport::process {
namespace {

using suite::Hear;
using suite::kPatience;
using suite::Tell;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing_support::ForkedStore;
using testing_support::ProcessWorld;
using testing_support::RunProcesses;

Deadline Patience() { return Deadline::After(Seconds(kPatience)); }

// Comes back when all of `ranks` are here: so that nobody leaves while others still connect, and
// short time limits start together.
void AwaitAll(ForkedStore& store, const std::string& key, const std::vector<int>& ranks, int rank) {
  const auto nothing = [](const auto&) { return std::string(); };
  const topology::HostMap hosts = topology::HostMap::OneHost(8);
  HVDX_ASSERT_OK(CouncilOf(store, "test", key, hosts, ranks, rank, "it has not come")
                     .Agree("", nothing, Patience())
                     .status());
}

class NoStore : public rendezvous::Store {
 public:
  Status Set(const std::string&, const std::string&) override { return Status::Aborted("none"); }
  Result<std::string> Get(const std::string&, const Deadline&) override {
    return Status::Aborted("none");
  }
  Status Forget(const std::string&) override { return Status::Aborted("none"); }
};

TEST(ProcessFabricTest, AWorldOfOneNeedsNeitherStoreNorSocketsNorSecret) {
  NoStore store;
  Options options;
  options.hostname = "node";
  auto joined = JoinAndMesh(options, store, Patience());
  HVDX_ASSERT_OK(joined.status());
  EXPECT_EQ(joined->fabric->hosts().host_name(0), "node");
  EXPECT_EQ(joined->mesh->size(), 1);
  ASSERT_NE(joined->mesh->stage(), nullptr);
  EXPECT_FALSE(joined->fabric->courier().HasMail());
}

TEST(ProcessFabricTest, NonsensicalOptionsAreTheCallersMistake) {
  NoStore store;
  const auto code = [&](const Options& options) {
    return ProcessFabric::Join(options, store, Patience()).status().code();
  };
  EXPECT_EQ(code(OptionsOf(2, 2, "a")), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(OptionsOf(-1, 2, "a")), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(OptionsOf(0, 2, "")), StatusCode::kInvalidArgument);
  Options no_secret = OptionsOf(0, 2, "a");
  no_secret.secret.clear();
  EXPECT_FALSE(ProcessFabric::Join(no_secret, store, Patience()).ok());
}

// Five ranks, two hosts: channels of everyone, of some across hosts, of one host, of one rank.
TEST(ProcessFabricTest, ChannelsOfAnyMembersAreMadeWhileOthersLive) {
  ForkedStore store;
  RunProcesses(5, [&](int rank) {
    auto joined = JoinAndMesh(OptionsOf(rank, 5, rank < 3 ? "a" : "b"), store, Patience());
    HVDX_ASSERT_OK(joined.status());
    std::uint32_t channel = 1;
    for (const std::vector<int>& members :
         {std::vector<int>{0, 1, 2}, {1, 3}, {2, 3, 4}, {3}, {0, 4}}) {
      const std::uint32_t number = channel++;
      const auto place = std::find(members.begin(), members.end(), rank);
      if (place == members.end()) continue;
      auto mesh = joined->fabric->MakeMesh(number, members, Patience());
      HVDX_ASSERT_OK(mesh.status());
      EXPECT_EQ((*mesh)->rank(), place - members.begin());
      ASSERT_NE((*mesh)->stage(), nullptr);
      std::mt19937 random(1);
      const int n = (*mesh)->size();
      const int me = (*mesh)->rank();
      if (n == 1) continue;
      std::vector<std::byte> in(100'000);
      HVDX_ASSERT_OK(suite::Exchange(**mesh, (me + 1) % n, suite::Pattern(me, 0, in.size()),
                                     (me + n - 1) % n, in, random));
      EXPECT_TRUE(in == suite::Pattern((me + n - 1) % n, 0, in.size()));
      // Nobody closes a link that its peer still reads.
      (*mesh)->stage()->Publish(1);
      EXPECT_TRUE(suite::AwaitAllAt(**mesh, 1));
    }
    std::mt19937 random(1);
    const std::vector<std::byte> out(1);
    std::vector<std::byte> in(1);
    for (int step = 1; step < 5; ++step) {
      HVDX_ASSERT_OK(suite::Exchange(*joined->mesh, (rank + step) % 5, out, (rank + 5 - step) % 5,
                                     in, random));
    }
  });
}

TEST(ProcessFabricTest, MembersMustBeAscendingRanksWithMine) {
  ForkedStore store;
  RunProcesses(2, [&](int rank) {
    auto fabric = ProcessFabric::Join(OptionsOf(rank, 2, "a"), store, Patience());
    HVDX_ASSERT_OK(fabric.status());
    for (const std::vector<int>& members :
         {std::vector<int>{}, {1 - rank}, {1, 0}, {0, 0, 1}, {0, 1, 2}, {-1, 0, 1}}) {
      EXPECT_EQ((*fabric)->MakeMesh(1, members, Patience()).status().code(),
                StatusCode::kInvalidArgument);
    }
    AwaitAll(store, "done", Everyone(2), rank);
  });
}

TEST(ProcessFabricTest, CouriersCarryMessagesAlongTheTree) {
  ForkedStore store;
  RunProcesses(4, [&](int rank) {
    auto joined = JoinAndMesh(OptionsOf(rank, 4, rank < 2 ? "a" : "b"), store, Patience());
    HVDX_ASSERT_OK(joined.status());
    auto& courier = joined->fabric->courier();
    const int parent = rank == 3 ? 2 : 0;
    const int children = rank == 0 ? 2 : rank == 2 ? 1 : 0;
    if (rank != 0) courier.Send(parent, std::vector<std::byte>(1, static_cast<std::byte>(rank)));
    int heard = 0;
    Bell::Listener listener(joined->fabric->bell());
    while (heard < children) {
      for (const Delivery& delivery : courier.Receive()) {
        ASSERT_EQ(delivery.message.at(0), static_cast<std::byte>(delivery.from));
        ++heard;
      }
      ASSERT_TRUE(heard == children || listener.Sleep(Patience()));
    }
    AwaitAll(store, "done", Everyone(4), rank);
  });
}

TEST(ProcessFabricTest, ARankThatDoesNotJoinIsNamedByAllWithinTheTimeLimit) {
  ForkedStore store;
  RunProcesses(4, [&](int rank) {
    if (rank == 2) return;
    AwaitAll(store, "there", {0, 1, 3}, rank);
    auto fabric = ProcessFabric::Join(OptionsOf(rank, 4, "a"), store, Deadline::After(Seconds(1)));
    EXPECT_THAT(fabric.status().message(),
                AllOf(HasSubstr("rank 2 is missing: it has not called hvd.init() within 1"),
                      Not(HasSubstr("job/"))));
  });
}

TEST(ProcessFabricTest, ARankThatDoesNotJoinIsNamedWithTheHostItWasPlacedOn) {
  ForkedStore store;
  RunProcesses(2, [&](int rank) {
    if (rank == 1) return;
    Options options = OptionsOf(rank, 2, "a");
    options.placed = {"a", "node7"};
    auto fabric = ProcessFabric::Join(options, store, Deadline::After(Seconds(0.1)));
    EXPECT_THAT(fabric.status().message(), HasSubstr("rank 1 on node7 is missing"));
    options.placed = {"a", "node7", "b"};  // of another job: better not believed
    options.generation = 1;
    fabric = ProcessFabric::Join(options, store, Deadline::After(Seconds(0.1)));
    EXPECT_THAT(fabric.status().message(), HasSubstr("rank 1 is missing"));
  });
}

TEST(ProcessFabricTest, ARankThatStopsInTheMiddleOfInitIsNamedWithItsHost) {
  ForkedStore store;
  RunProcesses(2, [&](int rank) {
    const Options options = OptionsOf(rank, 2, rank == 0 ? "a" : "node7");
    if (rank == 1) {  // says where it is, and no more
      const auto places = CallPlaces(options, store, "job/test/0", Patience());
      HVDX_ASSERT_OK(places.status());
      AwaitAll(store, "done", Everyone(2), rank);
      return;
    }
    auto fabric = ProcessFabric::Join(options, store, Deadline::After(Seconds(1)));
    EXPECT_THAT(fabric.status().message(),
                AllOf(HasSubstr("rank 1 on node7 is missing: it has begun hvd.init() but not gone "
                                "on with it within "),
                      Not(HasSubstr("job/"))));
    AwaitAll(store, "done", Everyone(2), rank);
  });
}

TEST(ProcessFabricTest, ARankThatDoesNotEnterAChannelIsNamedByAll) {
  for (bool force_tcp : {false, true}) {
    ForkedStore store;
    RunProcesses(3, [&](int rank) {
      Options options = OptionsOf(rank, 3, "node7");
      options.force_tcp = force_tcp;
      auto joined = JoinAndMesh(options, store, Patience());
      HVDX_ASSERT_OK(joined.status());
      if (rank == 1) {
        HVDX_ASSERT_OK(Hear(*joined->mesh, 0));
        return;
      }
      auto mesh = joined->fabric->MakeMesh(1, Everyone(3), Deadline::After(Seconds(1)));
      EXPECT_THAT(mesh.status().message(),
                  AllOf(HasSubstr("rank 1 on node7 is missing: it has not come to connect the "
                                  "ranks of a process set within 1"),
                        Not(HasSubstr("channel/"))));
      if (rank == 2) {
        HVDX_ASSERT_OK(Tell(*joined->mesh, 0));
      } else {
        HVDX_ASSERT_OK(Hear(*joined->mesh, 2));
        HVDX_ASSERT_OK(Tell(*joined->mesh, 1));
      }
    });
  }
}

// Counts this process's warnings.
int g_warnings = 0;
std::string g_warning;
void CountWarnings(LogLevel level, const std::string& line) {
  if (level != LogLevel::kWarning) return;
  ++g_warnings;
  g_warning = line;
}

// Runs four ranks on two hosts, `prepare` having changed a rank's options or limits, and expects
// that everything works without a stage, and one warning with `reason` from rank 0.
void ExpectTcpWithOneWarning(const std::function<void(Options&)>& prepare,
                             const std::string& reason) {
  ForkedStore store;
  ProcessWorld world(4, [&](int rank) {
    SetLogSink(CountWarnings);
    Options options = OptionsOf(rank, 4, rank < 2 ? "a" : "b");
    prepare(options);
    auto joined = JoinAndMesh(options, store, Patience());
    EXPECT_TRUE(joined.ok()) << joined.status().ToString();
    if (!joined.ok()) return 1;
    EXPECT_EQ(joined->mesh->stage(), nullptr);
    auto second = joined->fabric->MakeMesh(1, Everyone(4), Patience());
    EXPECT_TRUE(second.ok());
    std::mt19937 random(1);
    std::vector<std::byte> in(1'000'000);
    for (int step = 1; step < 4; ++step) {
      const int from = (rank + 4 - step) % 4;
      const Status status = suite::Exchange(**second, (rank + step) % 4,
                                            suite::Pattern(rank, 0, in.size()), from, in, random);
      EXPECT_TRUE(status.ok()) << status.ToString();
      EXPECT_TRUE(in == suite::Pattern(from, 0, in.size()));
    }
    EXPECT_EQ(g_warnings, rank == 0 ? 1 : 0) << g_warning;
    if (rank == 0) {
      EXPECT_THAT(g_warning, AllOf(HasSubstr("over TCP"), HasSubstr(reason)));
    }
    return 0;
  });
  for (const auto& ending : world.WaitAll(Patience())) {
    EXPECT_TRUE(ending.ok()) << ending.ToString();
  }
  EXPECT_THAT(world.LeftInDevShm(), IsEmpty());
}

TEST(ProcessFabricTest, OneRankThatCannotShareMakesAllUseTcpWithOneWarning) {
  ExpectTcpWithOneWarning(
      [](Options& options) {
        if (options.rank == 3) options.share = {false, false};
      },
      "rank 3 on b");
}

TEST(ProcessFabricTest, AHostThatMayNotMakeSegmentsUsesTcpWithOneWarning) {
  ExpectTcpWithOneWarning(
      [](Options&) {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit none{0, 0};
        ::setrlimit(RLIMIT_FSIZE, &none);
      },
      "File too large");
}

// The bells fit, a channel does not: noticed when the channel is made.
TEST(ProcessFabricTest, AHostWithTooLittleRoomForAChannelUsesTcpWithOneWarning) {
  ExpectTcpWithOneWarning(
      [](Options& options) {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit small{64 << 10, 64 << 10};
        if (options.rank == 2) ::setrlimit(RLIMIT_FSIZE, &small);
      },
      "rank 2 on b");
}

TEST(ProcessFabricTest, ForcedTcpIsNoReasonForAWarning) {
  ForkedStore store;
  RunProcesses(2, [&](int rank) {
    SetLogSink(CountWarnings);
    Options options = OptionsOf(rank, 2, "a");
    options.force_tcp = rank == 1;
    auto joined = JoinAndMesh(options, store, Patience());
    HVDX_ASSERT_OK(joined.status());
    EXPECT_EQ(joined->mesh->stage(), nullptr);
    EXPECT_EQ(g_warnings, 0) << g_warning;
    HVDX_ASSERT_OK(rank == 0 ? Tell(*joined->mesh, 1) : Hear(*joined->mesh, 0));
    HVDX_ASSERT_OK(rank == 0 ? Hear(*joined->mesh, 1) : Tell(*joined->mesh, 0));
  });
}

TEST(ProcessFabricTest, GenerationsOfAJobFollowEachOther) {
  ForkedStore store;
  RunProcesses(2, [&](int rank) {
    for (int generation = 0; generation < 3; ++generation) {
      Options options = OptionsOf(rank, 2, "a");
      options.generation = generation;
      auto joined = JoinAndMesh(options, store, Patience());
      HVDX_ASSERT_OK(joined.status());
      HVDX_ASSERT_OK(rank == 0 ? Tell(*joined->mesh, 1) : Hear(*joined->mesh, 0));
      HVDX_ASSERT_OK(rank == 0 ? Hear(*joined->mesh, 1) : Tell(*joined->mesh, 0));
    }
  });
}

// Who is late in a generation that has failed for others must hear so, and come after them: it
// would else wait for words that were forgotten. Of older ones nothing stays.
TEST(ProcessFabricTest, TheLastGenerationIsRememberedAndNoOlderOne) {
  rendezvous::MemoryStore store;
  const auto key = [](int generation) {
    return "job/test/" + std::to_string(generation) + "/word";
  };
  const auto remembered = [&](int generation) {
    return store.Get(key(generation), Deadline::After(Duration::zero())).ok();
  };
  for (int generation = 0; generation < 4; ++generation) {
    HVDX_ASSERT_OK(store.Set(key(generation), "said"));
    const auto join = [&](int rank) {
      Options options = OptionsOf(rank, 2, "a");
      options.generation = generation;
      return ProcessFabric::Join(options, store, Patience());
    };
    auto other = std::async(std::launch::async, join, 1);
    const auto fabric = join(0);
    HVDX_ASSERT_OK(fabric.status());
    HVDX_ASSERT_OK(other.get().status());
    EXPECT_EQ(remembered(generation - 1), generation >= 1);
    EXPECT_FALSE(remembered(generation - 2));
  }
}

// Waits until the courier reports that `rank` is lost.
Status AwaitLoss(Fabric& fabric, int rank) {
  const Deadline deadline = Patience();
  Bell::Listener listener(fabric.bell());
  while (true) {
    for (const Delivery& delivery : fabric.courier().Receive()) {
      if (delivery.from == rank && !delivery.lost.ok()) return delivery.lost;
    }
    if (!listener.Sleep(deadline)) return Status::Ok();
  }
}

// Rank 0 waits in shared memory for rank 1, which is killed. The courier says so, the engine (here
// another thread) raises the interrupt, the wait ends.
TEST(ProcessFabricTest, AKilledPeerEndsAWaitInSharedMemory) {
  ForkedStore store;
  ProcessWorld world(2, [&](int rank) {
    auto joined = JoinAndMesh(OptionsOf(rank, 2, "a"), store, Patience());
    EXPECT_TRUE(joined.ok());
    if (rank == 1) {
      EXPECT_TRUE(store.Set("waiting", "").ok());
      while (true) ::pause();
    }
    std::thread engine([&] {
      const Status lost = AwaitLoss(*joined->fabric, 1);
      EXPECT_THAT(lost.message(), HasSubstr("rank 1"));
      joined->mesh->interrupt().Raise(lost);
    });
    const Status status = joined->mesh->Await(&joined->mesh->In(1), nullptr, Deadline::Never());
    engine.join();
    EXPECT_THAT(status.message(), HasSubstr("rank 1"));
    return 0;
  });
  EXPECT_TRUE(store.Get("waiting", Patience()).ok());
  world.Signal(1, SIGKILL);
  EXPECT_TRUE(world.Wait(0, Patience()).ok());
}

// Rank 0 breaks off because of rank 1; rank 2, which sees rank 0 go, is told of rank 1.
TEST(ProcessFabricTest, WhoBrokeOffFirstExplainsThoseAfterIt) {
  ForkedStore store;
  RunProcesses(3, [&](int rank) {
    auto joined = JoinAndMesh(OptionsOf(rank, 3, "a"), store, Patience());
    HVDX_ASSERT_OK(joined.status());
    if (rank == 0) {
      const Status lost = Status::Unknown("lost rank 1");
      EXPECT_EQ(joined->fabric->Explain(lost).message(), "lost rank 1");
      EXPECT_TRUE(store.Set("said", "").ok());
    } else if (rank == 2) {
      EXPECT_TRUE(store.Get("said", Patience()).ok());
      const Status lost = joined->fabric->Explain(Status::Unknown("lost rank 0"));
      EXPECT_EQ(lost.message(), "rank 0 on a gave up: lost rank 1");
    }
    AwaitAll(store, "all", Everyone(3), rank);
  });
}

// Hears the addresses of all only when somebody has given up and gone.
class SlowStore : public rendezvous::Store {
 public:
  explicit SlowStore(rendezvous::Store& store) : store_(store) {}
  Status Set(const std::string& key, const std::string& value) override {
    return store_.Set(key, value);
  }
  Result<std::string> Get(const std::string& key, const Deadline& deadline) override {
    auto heard = store_.Get(key, deadline);
    if (key.ends_with("doors/decision")) {
      HVDX_RETURN_IF_ERROR(store_.Get("job/test/0/gave up/0", deadline).status());
      HVDX_RETURN_IF_ERROR(store_.Get("test/gone", deadline).status());
    }
    return heard;
  }
  Status Forget(const std::string& prefix) override { return store_.Forget(prefix); }

 private:
  rendezvous::Store& store_;
};

// Rank 0 has left because rank 1 died. Rank 2, which finds rank 0's door shut, names rank 1.
TEST(ProcessFabricTest, WhoFindsADoorShutHearsWhyItIs) {
  ForkedStore store;
  RunProcesses(3, [&](int rank) {
    Options options = OptionsOf(rank, 3, "a");
    options.force_tcp = true;
    SlowStore slow(store);
    rendezvous::Store& mine = rank == 2 ? static_cast<rendezvous::Store&>(slow) : store;
    auto fabric = ProcessFabric::Join(options, mine, Patience());
    if (rank == 1) return;  // it has come in, and dies
    ASSERT_FALSE(fabric.ok());
    EXPECT_THAT(fabric.status().message(), HasSubstr("rank 1"));
    if (rank == 0) HVDX_ASSERT_OK(store.Set("test/gone", ""));
  });
}

TEST(ProcessFabricTest, NothingIsLeftWhenAllAreKilledWhileJoining) {
  for (const char* moment : {"job/test/0/bells/0/unnamed/word/0", "job/test/0/doors/word/1",
                             "job/test/0/channel/0/host/0/unnamed/word/0"}) {
    ForkedStore store;
    ProcessWorld world(3, [&](int rank) {
      (void)JoinAndMesh(OptionsOf(rank, 3, "a"), store, Patience()).ok();
      while (true) ::pause();
      return 0;
    });
    EXPECT_TRUE(store.Get(moment, Patience()).ok());
    world.SignalAll(SIGKILL);
    world.WaitAll(Patience());
    EXPECT_THAT(world.LeftInDevShm(), IsEmpty());
  }
}

}  // namespace
}  // namespace horovodx::transport::process

#include "horovodx/transport/process/roll_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "horovodx/rendezvous/memory_store.h"
#include "horovodx/transport/process/place.h"
#include "tests/horovodx/transport/process/process_ranks.h"

namespace horovodx::transport::process {
namespace {

using testing::HasSubstr;

// Every rank's answer, with the options that `change` makes of the usual ones.
template <typename Change>
std::vector<Result<Places>> Call(int ranks, const Change& change) {
  rendezvous::MemoryStore store;
  std::vector<Result<Places>> heard(ranks, Status::Aborted("not called"));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      Options options = OptionsOf(rank, ranks, "node");
      change(options);
      heard[rank] = CallPlaces(options, store, "key", Deadline::After(Seconds(30)));
    });
  }
  for (auto& thread : threads) thread.join();
  return heard;
}

TEST(RollCallTest, EveryoneHearsWhereEveryoneIs) {
  const auto heard = Call(4, [](Options& options) {
    options.hostname = options.rank % 2 == 0 ? "node with spaces" : "b";
  });
  for (const auto& places : heard) {
    ASSERT_TRUE(places.ok()) << places.status().ToString();
    EXPECT_EQ(places.value().hosts.hosts(), 2);
    EXPECT_EQ(places.value().hosts.host_name(0), "node with spaces");
    EXPECT_EQ(places.value().hosts.local_rank(3), 1);
    EXPECT_FALSE(places.value().force_tcp);
  }
}

TEST(RollCallTest, OneWhoWantsTcpWantsItForAll) {
  const auto heard = Call(3, [](Options& options) { options.force_tcp = options.rank == 1; });
  for (const auto& places : heard) EXPECT_TRUE(places.value().force_tcp);
}

TEST(RollCallTest, TlsIsForAllOrForNone) {
  for (const int odd : {0, 2}) {
    const auto heard = Call(3, [&](Options& options) { options.tls = options.rank != odd; });
    for (const auto& places : heard) {
      EXPECT_THAT(places.status().message(),
                  HasSubstr("HOROVODX_TLS=1 is set on rank " + std::to_string(odd == 0 ? 1 : 0) +
                            " but not on rank " + std::to_string(odd)));
    }
  }
  const auto heard = Call(3, [](Options& options) { options.tls = options.force_tcp = true; });
  for (const auto& places : heard) EXPECT_TRUE(places.value().force_tcp);
}

TEST(RollCallTest, RanksThatCountDifferentlyAreToldSo) {
  const auto heard = Call(3, [](Options& options) { options.size = options.rank == 0 ? 2 : 3; });
  EXPECT_TRUE(heard[0].ok());
  for (int rank : {1, 2}) {
    EXPECT_THAT(heard[rank].status().message(),
                HasSubstr("rank 0 called 2 ranks where this one knows of 3"));
  }
}

// Three processes for three ranks, of which two think that they are the same; and one too many.
TEST(RollCallTest, ARankThatIsTwoProcessesIsNamedToAllAtOnce) {
  for (const std::vector<int>& ranks :
       {std::vector<int>{0, 1, 1}, {0, 0, 2}, {1, 1, 2}, {2, 2, 0, 1}}) {
    rendezvous::MemoryStore store;
    std::vector<Status> ends(ranks.size());
    std::vector<std::thread> threads;
    const TimePoint start = Clock::now();
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      threads.emplace_back([&, i] {
        Options options = OptionsOf(ranks[i], 3, "node " + std::to_string(i));
        // Together, and one after another.
        std::this_thread::sleep_for(std::chrono::milliseconds(i % 2 == 0 ? 0 : 20 * i));
        ends[i] = CallPlaces(options, store, "job", Deadline::After(Seconds(30))).status();
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_LT(ToSeconds(Clock::now() - start), 15);  // nobody waited for the deadline
    const int twice = ranks.size() == 4 ? 2 : ranks[1];
    int told = 0;
    for (const Status& end : ends) {
      const std::string claim = "HOROVOD_RANK is '" + std::to_string(twice) + "' in two processes";
      told += end.message().find(claim) != std::string::npos ? 1 : 0;
    }
    // With one too many the job may have come together before: then it alone is told.
    EXPECT_GE(told, ranks.size() == 4 ? 1 : 3);
  }
}

TEST(RollCallTest, WhereTheLauncherSaysRanksAreMustBeWhereTheyAre) {
  const auto call = [](auto change) {
    return Call(4, [&](Options& options) {
      options.hostname = options.rank < 2 ? "a" : "b";
      options.told = {options.rank % 2, 2, options.rank / 2, 2};
      change(options);
    });
  };
  for (const auto& places : call([](Options&) {})) EXPECT_TRUE(places.ok());
  for (const auto& places : call([](Options& o) { o.told.local_rank = o.rank == 3 ? 0 : 1; })) {
    EXPECT_THAT(places.status().message(),
                HasSubstr("HOROVOD_LOCAL_RANK is '1' on rank 0; expected 0, as rank 0 is on host "
                          "'a' with 2 of 4 ranks"));
  }
  // As if HOROVOD_HOSTNAME had been forgotten.
  for (const auto& places : call([](Options& o) { o.hostname = "localhost"; })) {
    EXPECT_THAT(places.status().message(), HasSubstr("HOROVOD_LOCAL_SIZE is '2' on rank 0; "
                                                     "expected 4"));
  }
  // What a launcher does not say cannot be wrong, and cross numbers are only doubted.
  for (const auto& places : call([](Options& o) { o.told = {}; })) EXPECT_TRUE(places.ok());
  for (const auto& places : call([](Options& o) { o.told.cross_rank = 7; })) {
    EXPECT_TRUE(places.ok());
  }
}

TEST(PlaceTest, AWordSaysAllAndNothingElseIsOne) {
  Place place{true, true, "0123", {1, 2, {}, 4}, "a host with spaces"};
  Place read;
  ASSERT_TRUE(ParsePlace(place.ToWord(), &read));
  EXPECT_EQ(read.ToWord(), place.ToWord());
  EXPECT_EQ(read.told.cross_rank, std::nullopt);
  for (const char* strange : {"", "any", "any x", "any x 1 2 3", "any x 1 2 3 4", "odd x - - - - h",
                              "any x 1 -2 - - h", "any x 99999999999 - - - h"}) {
    EXPECT_FALSE(ParsePlace(strange, &read)) << strange;
  }
}

TEST(PlaceTest, CrossNumbersThatAreWrongAreNamed) {
  const auto hosts = topology::HostMap::Grid(2, 2);
  EXPECT_EQ(DoubtsAboutCross(hosts, 3, {1, 2, 1, 2}), "");
  EXPECT_THAT(DoubtsAboutCross(hosts, 3, {1, 2, 0, 2}),
              HasSubstr("HOROVOD_CROSS_RANK is '0' on rank 3; expected 1"));
  EXPECT_THAT(DoubtsAboutCross(hosts, 3, {{}, {}, {}, 4}),
              HasSubstr("HOROVOD_CROSS_SIZE is '4' on rank 3; expected 2"));
}

TEST(RollCallTest, DoorsCarryAddressesAndTheFirstReasonNotToShare) {
  rendezvous::MemoryStore store;
  const topology::HostMap hosts(std::vector<std::string>{"a", "b", "b"});
  std::vector<Result<Doors>> heard(3, Status::Aborted("not called"));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      const Council world =
          CouncilOf(store, "job", "doors", hosts, Everyone(3), rank, "it has not come");
      const Address mine{"10.0.0." + std::to_string(rank), 4711};
      heard[rank] =
          CallDoors(world, mine, rank == 0 ? "" : "too\nfull", Deadline::After(Seconds(30)));
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& doors : heard) {
    ASSERT_TRUE(doors.ok()) << doors.status().ToString();
    ASSERT_EQ(doors.value().addresses.size(), 3u);
    EXPECT_EQ(doors.value().addresses[2].ToString(), "10.0.0.2:4711");
    EXPECT_EQ(doors.value().why_not_shared, "too full");
  }
}

}  // namespace
}  // namespace horovodx::transport::process

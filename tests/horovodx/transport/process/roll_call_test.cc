#include "horovodx/transport/process/roll_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "horovodx/rendezvous/memory_store.h"
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

TEST(RollCallTest, DoorsCarryAddressesAndTheFirstReasonNotToShare) {
  rendezvous::MemoryStore store;
  const topology::HostMap hosts(std::vector<std::string>{"a", "b", "b"});
  std::vector<Result<Doors>> heard(3, Status::Aborted("not called"));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      const Council world = CouncilOf(store, "doors", hosts, Everyone(3), rank, "it has not come");
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

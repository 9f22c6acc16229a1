// How processes come to share a segment, and what happens when they cannot or do not come.
#include "horovodx/transport/shm/share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "tests/horovodx/transport/link_suite.h"
#include "tests/horovodx/transport/shm/local_world.h"
#include "tests/support/forked_store.h"
#include "tests/support/process_world.h"

namespace horovodx::transport::shm {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing_support::ForkedStore;
using testing_support::ProcessWorld;
using testing_support::RunProcesses;

constexpr double kPatience = 60;
const Shape kShape{3, 0, 64 << 10};

Result<Shared> Share(ForkedStore& store, int rank, const ShareOptions& options = {},
                     double seconds = kPatience) {
  return ShareSegment(CouncilOf(store, "job", rank, 3), kShape, options,
                      Deadline::After(Seconds(seconds)));
}

TEST(ShareTest, ProcessesGetTheSameMemoryAndNoNameOrDescriptorStays) {
  ForkedStore store;
  RunProcesses(3, [&](int rank) {
    const int before = ::dup(0);
    ::close(before);
    auto shared = Share(store, rank);
    HVDX_ASSERT_OK(shared.status());
    ASSERT_TRUE(shared->segment.has_value()) << shared->why_not;
    shared->segment->block(rank)[0] = static_cast<std::byte>(rank + 1);
    HVDX_ASSERT_OK(CouncilOf(store, "written", rank, 3)
                       .Agree(
                           "", [](const auto&) { return ""; }, Deadline::After(Seconds(kPatience)))
                       .status());
    for (int other = 0; other < 3; ++other) {
      EXPECT_EQ(shared->segment->block(other)[0], static_cast<std::byte>(other + 1));
    }
    const int after = ::dup(0);
    EXPECT_EQ(before, after);  // the lowest free descriptor is the same
  });
}

TEST(ShareTest, OneWhoCannotOpenTheMemfdMakesAllUseDevShm) {
  ForkedStore store;
  ProcessWorld world(3, [&](int rank) {
    ShareOptions options;
    options.unnamed = rank != 2;
    auto shared = Share(store, rank, options);
    EXPECT_TRUE(shared.ok() && shared->segment.has_value());
    return 0;
  });
  for (const auto& ending : world.WaitAll(Deadline::After(Seconds(kPatience)))) {
    EXPECT_TRUE(ending.ok()) << ending.ToString();
  }
  EXPECT_TRUE(store.Get("job/named/word/0", Deadline::After(Seconds(0))).ok());
  EXPECT_THAT(world.LeftInDevShm(), IsEmpty());
}

TEST(ShareTest, AllHearTheSameReasonWhenThereIsNoSharedMemory) {
  ForkedStore store;
  RunProcesses(3, [&](int rank) {
    ShareOptions options;
    options.unnamed = rank != 2;
    options.named = rank != 0;
    auto shared = Share(store, rank, options);
    HVDX_ASSERT_OK(shared.status());
    EXPECT_FALSE(shared->segment.has_value());
    EXPECT_EQ(shared->why_not,
              "memfd fails on rank 2: switched off; /dev/shm fails on rank 0: switched off");
  });
}

TEST(ShareTest, ALimitOfTheSystemIsAReasonAndNotACrash) {
  ForkedStore store;
  ProcessWorld world(3, [&](int rank) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &small);
    auto shared = Share(store, rank);
    EXPECT_TRUE(shared.ok());
    EXPECT_FALSE(shared->segment.has_value());
    EXPECT_THAT(shared->why_not, HasSubstr("File too large"));
    return 0;
  });
  for (const auto& ending : world.WaitAll(Deadline::After(Seconds(kPatience)))) {
    EXPECT_TRUE(ending.ok()) << ending.ToString();
  }
  EXPECT_THAT(world.LeftInDevShm(), IsEmpty());
}

TEST(ShareTest, WhoDoesNotComeIsNamedWithinTheTimeLimit) {
  ForkedStore store;
  RunProcesses(3, [&](int rank) {
    if (rank == 1) return;
    HVDX_ASSERT_OK(CouncilOf(store, "there", rank / 2, 2)
                       .Agree(
                           "", [](const auto&) { return ""; }, Deadline::After(Seconds(kPatience)))
                       .status());
    auto shared = Share(store, rank, {}, 1);
    EXPECT_THAT(shared.status().message(), HasSubstr("rank 1 is missing"));
  });
}

TEST(ShareTest, NothingIsLeftWhenAllAreKilledWhileTheyMeet) {
  ForkedStore store;
  ProcessWorld world(3, [&](int rank) {
    if (rank == 1) ::pause();  // rank 2 has opened the segment, rank 0 waits for rank 1
    (void)Share(store, rank).ok();
    return 0;
  });
  EXPECT_TRUE(store.Get("job/unnamed/opened/word/2", Deadline::After(Seconds(kPatience))).ok());
  world.SignalAll(SIGKILL);
  for (const auto& ending : world.WaitAll(Deadline::After(Seconds(kPatience)))) {
    EXPECT_EQ(ending.signal, SIGKILL);
  }
  EXPECT_THAT(world.LeftInDevShm(), IsEmpty());
}

TEST(ShareTest, NothingIsLeftWhenAllAreKilledInTheMiddleOfATransfer) {
  for (bool unnamed : {true, false}) {
    ForkedStore store;
    ProcessWorld world(2, [&](int rank) {
      ShareOptions options;
      options.unnamed = unnamed;
      auto joined = JoinLocal(store, rank, 2, options, Deadline::After(Seconds(kPatience)));
      EXPECT_TRUE(joined.ok());
      std::mt19937 random(1);
      const auto out = suite::Pattern(rank, 1 - rank, 1 << 20);
      auto in = out;
      while (suite::Exchange(*joined->mesh, 1 - rank, out, 1 - rank, in, random).ok()) {
        if (!store.Set("moving/" + std::to_string(rank), "").ok()) break;
      }
      return 1;
    });
    for (const char* key : {"moving/0", "moving/1"}) {
      EXPECT_TRUE(store.Get(key, Deadline::After(Seconds(kPatience))).ok());
    }
    world.SignalAll(SIGKILL);
    for (const auto& ending : world.WaitAll(Deadline::After(Seconds(kPatience)))) {
      EXPECT_EQ(ending.signal, SIGKILL);
    }
    EXPECT_THAT(world.LeftInDevShm(), IsEmpty());
  }
}

// The resident part of the segments of this process, in KiB.
long ResidentKib() {
  std::ifstream maps("/proc/self/smaps");
  long total = 0;
  bool ours = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("-") != std::string::npos && line.find(" rw") != std::string::npos) {
      ours = line.find("/memfd:horovodx") != std::string::npos;
    }
    if (ours && line.starts_with("Rss:")) total += std::stol(line.substr(4));
  }
  return total;
}

TEST(ShareTest, AFreshChannelTakesHardlyAnyResidentMemory) {
  ForkedStore store;
  RunProcesses(2, [&](int rank) {
    auto joined = JoinLocal(store, rank, 2, {}, Deadline::After(Seconds(kPatience)));
    HVDX_ASSERT_OK(joined.status());
    HVDX_ASSERT_OK(rank == 0 ? suite::Tell(*joined->mesh, 1) : suite::Hear(*joined->mesh, 0));
    const long resident = ResidentKib();
    EXPECT_GT(resident, 0);
    EXPECT_LT(resident, 512);
  });
}

}  // namespace
}  // namespace horovodx::transport::shm

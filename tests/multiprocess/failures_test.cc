// Ranks are killed and stopped at every stage of a job's life, over shared memory, TCP and TLS:
// every survivor's every handle ends with an error that names the rank, in time, and nothing is
// left behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "tests/multiprocess/process_job.h"
#include "tests/support/engine_world.h"

namespace horovodx::runtime {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing_support::Allreduce;
using testing_support::JobOptions;
using testing_support::ProcessJob;
using testing_support::SubmitAndWait;

constexpr int kVictim = 1;
constexpr int kRanks = 3;
// The heartbeat limit is one second here; the rest is for a loaded machine.
constexpr double kSurvivorsKnowWithin = 20;

enum class Over { kShm, kTcp, kTls };

class Failures : public testing::TestWithParam<std::tuple<int, Over>> {
 protected:
  int signal() const { return std::get<0>(GetParam()); }
  static JobOptions Options() {
    JobOptions options;
    options.ranks = kRanks;
    options.tcp = std::get<1>(GetParam()) != Over::kShm;
    options.tls = std::get<1>(GetParam()) == Over::kTls;
    options.engine.shutdown_limit = Seconds(5);
    return options;
  }
  // Hits the victim, lets the others go on, and expects all of them to end well.
  static void StrikeAndReap(ProcessJob& job, int signal) {
    job.ranks().Signal(kVictim, signal);
    job.board().go = true;
    const auto deadline = Deadline::After(Seconds(60));
    for (int rank = 0; rank < kRanks; ++rank) {
      if (rank == kVictim) continue;
      const auto ending = job.ranks().Wait(rank, deadline);
      EXPECT_TRUE(ending.ok()) << "rank " << rank << ": " << ending.ToString();
    }
    job.ranks().Signal(kVictim, SIGKILL);
    job.ranks().Wait(kVictim, deadline);
    EXPECT_THAT(job.ranks().LeftInDevShm(), IsEmpty());
  }
  static void AwaitGo(ProcessJob& job) {
    while (!job.board().go) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  static void SleepUntilKilled() {
    std::this_thread::sleep_for(std::chrono::seconds(120));
    FAIL() << "nobody killed this rank";
  }
  // Every handle ends in time with an error naming the victim.
  static void ExpectVictimNamed(Engine& engine, const std::vector<OperationPtr>& operations) {
    const auto deadline = Deadline::After(Seconds(kSurvivorsKnowWithin));
    for (const auto& operation : operations) {
      ASSERT_TRUE(engine.Wait(operation, deadline)) << operation->what.request.name << " hangs";
      EXPECT_EQ(operation->status.code(), StatusCode::kUnknown);
      EXPECT_THAT(operation->status.message(), HasSubstr("Horovod has been shut down"));
      EXPECT_THAT(operation->status.message(), HasSubstr("rank 1"));
    }
  }
};
std::string NameOf(const testing::TestParamInfo<std::tuple<int, Over>>& given) {
  constexpr const char* kNames[] = {"Shm", "Tcp", "Tls"};
  const bool kill = std::get<0>(given.param) == SIGKILL;
  return std::string(kill ? "Kill" : "Stop") +
         kNames[static_cast<std::size_t>(std::get<1>(given.param))];
}
INSTANTIATE_TEST_SUITE_P(SignalAndTransport, Failures,
                         testing::Combine(testing::Values(SIGKILL, SIGSTOP),
                                          testing::Values(Over::kShm, Over::kTcp)),
                         NameOf);
// What TLS changes is how the end of a connection is seen.
INSTANTIATE_TEST_SUITE_P(Encrypted, Failures,
                         testing::Combine(testing::Values(SIGKILL), testing::Values(Over::kTls)),
                         NameOf);

TEST_P(Failures, BeforeInitNamesTheMissingRank) {
  JobOptions options = Options();
  options.join_limit = Seconds(2);
  ProcessJob job(options);
  job.Fork([&](int rank) {
    ++job.board().ready;
    if (rank == kVictim) return SleepUntilKilled();
    AwaitGo(job);
    auto engine = job.StartEngine(rank);
    ASSERT_FALSE(engine.ok());
    EXPECT_THAT(engine.status().message(), HasSubstr("rank 1"));
  });
  ASSERT_TRUE(job.AwaitReady(kRanks));
  StrikeAndReap(job, signal());
}

TEST_P(Failures, InNegotiationEndsEveryHandle) {
  ProcessJob job(Options());
  job.Fork([&](int rank) {
    auto engine = job.StartEngine(rank);
    ASSERT_TRUE(engine.ok()) << engine.status().ToString();
    std::vector<std::vector<float>> tensors(5, std::vector<float>(10, 1.0f));
    std::vector<OperationPtr> operations;
    for (int i = 0; i < 5 && rank != kVictim; ++i) {
      operations.push_back(*(*engine)->Submit(Allreduce("t" + std::to_string(i), tensors[i])));
    }
    ++job.board().ready;
    if (rank == kVictim) return SleepUntilKilled();
    ExpectVictimNamed(**engine, operations);
    EXPECT_THAT(SubmitAndWait(**engine, Allreduce("later", tensors[0])).message(),
                HasSubstr("Horovod has been shut down"));
  });
  ASSERT_TRUE(job.AwaitReady(kRanks));
  StrikeAndReap(job, signal());
}

TEST_P(Failures, InsideCollectivesEndsEveryHandle) {
  ProcessJob job(Options());
  job.Fork([&](int rank) {
    auto engine = job.StartEngine(rank);
    ASSERT_TRUE(engine.ok()) << engine.status().ToString();
    std::vector<float> large(4 << 20, 1.0f);
    std::vector<float> small(64, 1.0f);
    // Round and round until the victim is gone: the signal strikes anywhere in it.
    const auto deadline = Deadline::After(Seconds(60));
    for (int step = 0; !deadline.Passed(); ++step) {
      auto first = (*engine)->Submit(Allreduce("large", large, ReduceOp::kMax));
      auto second = (*engine)->Submit(Allreduce("small", small, ReduceOp::kMax));
      if (!first.ok() || !second.ok()) {
        EXPECT_THAT(first.ok() ? second.status().message() : first.status().message(),
                    HasSubstr("rank 1"));
        if (first.ok()) ExpectVictimNamed(**engine, {*first});
        return;
      }
      ASSERT_TRUE((*engine)->Wait(*first, Deadline::After(Seconds(kSurvivorsKnowWithin))));
      if (!(*first)->status.ok()) return ExpectVictimNamed(**engine, {*first, *second});
      ASSERT_TRUE((*engine)->Wait(*second, Deadline::After(Seconds(kSurvivorsKnowWithin))));
      if (!(*second)->status.ok()) return ExpectVictimNamed(**engine, {*second});
      if (step == 6) ++job.board().ready;
    }
    FAIL() << "nothing happened";
  });
  ASSERT_TRUE(job.AwaitReady(kRanks));
  StrikeAndReap(job, signal());
}

TEST_P(Failures, WhileIdleIsKnownToTheNextSubmission) {
  ProcessJob job(Options());
  job.Fork([&](int rank) {
    auto engine = job.StartEngine(rank);
    ASSERT_TRUE(engine.ok()) << engine.status().ToString();
    std::vector<float> x(10, 1.0f);
    ASSERT_TRUE(SubmitAndWait(**engine, Allreduce("x", x)).ok());
    ++job.board().ready;
    if (rank == kVictim) return SleepUntilKilled();
    AwaitGo(job);
    const auto deadline = Deadline::After(Seconds(kSurvivorsKnowWithin));
    while (!(*engine)->stopped() && !deadline.Passed()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const Status status = SubmitAndWait(**engine, Allreduce("x", x));
    EXPECT_EQ(status.code(), StatusCode::kUnknown);
    EXPECT_THAT(status.message(), HasSubstr("rank 1"));
  });
  ASSERT_TRUE(job.AwaitReady(kRanks));
  StrikeAndReap(job, signal());
}

TEST_P(Failures, AtShutdownDoesNotKeepTheOthers) {
  ProcessJob job(Options());
  job.Fork([&](int rank) {
    auto engine = job.StartEngine(rank);
    ASSERT_TRUE(engine.ok()) << engine.status().ToString();
    std::vector<float> x(10, 1.0f);
    ASSERT_TRUE(SubmitAndWait(**engine, Allreduce("x", x)).ok());
    ++job.board().ready;
    if (rank == kVictim) return SleepUntilKilled();
    AwaitGo(job);
    (*engine)->Shutdown();
    EXPECT_TRUE((*engine)->stopped());
  });
  ASSERT_TRUE(job.AwaitReady(kRanks));
  StrikeAndReap(job, signal());
}

TEST(FailuresTest, KillingEveryRankLeavesNothingBehind) {
  for (const bool tcp : {false, true}) {
    JobOptions options;
    options.tcp = tcp;
    ProcessJob job(options);
    job.Fork([&](int rank) {
      auto engine = job.StartEngine(rank);
      ASSERT_TRUE(engine.ok()) << engine.status().ToString();
      ++job.board().ready;
      std::vector<float> x(1 << 20, 1.0f);
      while (SubmitAndWait(**engine, Allreduce("x", x, ReduceOp::kMax)).ok()) {
      }
    });
    ASSERT_TRUE(job.AwaitReady(3));
    job.ranks().SignalAll(SIGKILL);
    job.ranks().WaitAll(Deadline::After(Seconds(30)));
    EXPECT_THAT(job.ranks().LeftInDevShm(), IsEmpty());
  }
}

}  // namespace
}  // namespace horovodx::runtime

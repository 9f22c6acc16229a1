// Ranks are killed and stopped at every stage of a job's life, over shared memory, TCP and TLS:
// every survivor's every handle ends with an error that names the rank, in time, and nothing is
// left behind. init_failures_test.cc has the beginning of that life.
#include "tests/multiprocess/strike.h"

namespace horovodx::runtime {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing_support::Allreduce;
using testing_support::JobOptions;
using testing_support::ProcessJob;
using testing_support::SubmitAndWait;

class Failures : public Strike {};
INSTANTIATE_TEST_SUITE_P(Blows, Failures, testing::ValuesIn(AllBlows()), NameOf);

TEST_P(Failures, InNegotiationEndsEveryHandle) {
  ProcessJob job(Options());
  ForkEngines(job, [&](Engine& engine) {
    std::vector<std::vector<float>> tensors(5, std::vector<float>(10, 1.0f));
    std::vector<OperationPtr> operations;
    for (int i = 0; i < 5 && engine.rank() != victim(); ++i) {
      operations.push_back(*engine.Submit(Allreduce("t" + std::to_string(i), tensors[i])));
    }
    ++job.board().ready;
    if (engine.rank() == victim()) return SleepUntilKilled();
    ExpectVictimNamed(job, engine, operations);
    EXPECT_THAT(SubmitAndWait(engine, Allreduce("later", tensors[0])).message(),
                HasSubstr("Horovod has been shut down"));
  });
  ASSERT_TRUE(job.AwaitReady(kRanks));
  StrikeAndReap(job);
}

TEST_P(Failures, InsideCollectivesEndsEveryHandle) {
  ProcessJob job(Options());
  ForkEngines(job, [&](Engine& engine) {
    std::vector<float> large(4 << 20, 1.0f);
    std::vector<float> small(64, 1.0f);
    // Round and round until the victim is gone: the signal strikes anywhere in it.
    const auto deadline = Deadline::After(Seconds(60));
    for (int step = 0; !deadline.Passed(); ++step) {
      auto first = engine.Submit(Allreduce("large", large, ReduceOp::kMax));
      auto second = engine.Submit(Allreduce("small", small, ReduceOp::kMax));
      if (!first.ok() || !second.ok()) {
        EXPECT_THAT(first.ok() ? second.status().message() : first.status().message(),
                    HasSubstr(VictimsName()));
        if (first.ok()) ExpectVictimNamed(job, engine, {*first});
        return;
      }
      ASSERT_TRUE(engine.Wait(*first, deadline));
      if (!(*first)->status.ok()) return ExpectVictimNamed(job, engine, {*first, *second});
      ASSERT_TRUE(engine.Wait(*second, deadline));
      if (!(*second)->status.ok()) return ExpectVictimNamed(job, engine, {*second});
      if (step == 6) ++job.board().ready;
    }
    FAIL() << "nothing happened";
  });
  ASSERT_TRUE(job.AwaitReady(kRanks));
  StrikeAndReap(job);
}

TEST_P(Failures, WhileIdleIsKnownToTheNextSubmission) {
  ProcessJob job(Options());
  ForkEngines(job, [&](Engine& engine) {
    std::vector<float> x(10, 1.0f);
    ASSERT_TRUE(SubmitAndWait(engine, Allreduce("x", x)).ok());
    ++job.board().ready;
    if (engine.rank() == victim()) return SleepUntilKilled();
    AwaitGo(job);
    const auto deadline = Deadline::After(Seconds(30));
    while (!engine.stopped() && !deadline.Passed()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ExpectInTime(job);
    const Status status = SubmitAndWait(engine, Allreduce("x", x));
    EXPECT_EQ(status.code(), StatusCode::kUnknown);
    EXPECT_THAT(status.message(), HasSubstr(VictimsName()));
  });
  ASSERT_TRUE(job.AwaitReady(kRanks));
  StrikeAndReap(job);
}

TEST_P(Failures, AtShutdownDoesNotKeepTheOthers) {
  ProcessJob job(Options());
  ForkEngines(job, [&](Engine& engine) {
    std::vector<float> x(10, 1.0f);
    ASSERT_TRUE(SubmitAndWait(engine, Allreduce("x", x)).ok());
    ++job.board().ready;
    if (engine.rank() == victim()) return SleepUntilKilled();
    AwaitGo(job);
    engine.Shutdown();
    EXPECT_TRUE(engine.stopped());
    ExpectInTime(job);
  });
  ASSERT_TRUE(job.AwaitReady(kRanks));
  StrikeAndReap(job);
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

// Ranks are killed and stopped before init and in the midst of it: whoever waits hears in time
// which rank is missing.
//
// Before ranks are connected nobody can know that one is gone, so the limit is the time to connect.
#include <memory>

#include "tests/multiprocess/strike.h"

namespace horovodx::runtime {
namespace {

using testing::HasSubstr;
using testing_support::Allreduce;
using testing_support::ProcessJob;
using testing_support::SubmitAndWait;

class InitFailures : public Strike {
 protected:
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  static constexpr double kSlower = 2.0;
#else
  static constexpr double kSlower = 1.0;
#endif
  // Making keys takes time, which the limit includes.
  static double JoinSeconds() { return kSlower * (GetParam().over == Over::kTls ? 4.0 : 1.5); }

  static JobOptions Options() {
    JobOptions options = Strike::Options();
    options.join_limit = Seconds(JoinSeconds());
    options.engine.time_limit = Seconds(JoinSeconds());
    return options;
  }
  // The blow may come a moment too late: then the job has started, and hears of it as a job.
  static void ExpectVictimMissed(ProcessJob& job, int rank) {
    auto engine = job.StartEngine(rank);
    if (!engine.ok()) {
      EXPECT_THAT(engine.status().message(), HasSubstr(VictimsName()));
    } else {
      std::vector<float> x(10, 1.0f);
      EXPECT_THAT(SubmitAndWait(**engine, Allreduce("x", x)).message(), HasSubstr(VictimsName()));
    }
    // Who started before the blow has come may have heard that the victim was done: nothing is late
    // before it comes.
    AwaitGo(job);
    // Up to twice the limit (to join, then to make the first channel), and the time to look who
    // is missing.
    const Duration taken = Clock::now() - job.board().struck.load();
    EXPECT_LT(ToSeconds(taken), 2 * JoinSeconds() + ToSeconds(KnownWithin()));
  }
};
INSTANTIATE_TEST_SUITE_P(Blows, InitFailures, testing::ValuesIn(AllBlows()), NameOf);

class BeforeInit : public InitFailures {};
INSTANTIATE_TEST_SUITE_P(Blows, BeforeInit,
                         testing::Values(Blow{SIGKILL, Over::kShm, 0},
                                         Blow{SIGSTOP, Over::kTcp, 1}),
                         NameOf);

TEST_P(BeforeInit, TheOthersNameTheMissingRank) {
  ProcessJob job(Options());
  job.Fork([&](int rank) {
    ++job.board().ready;
    if (rank == victim()) return SleepUntilKilled();
    AwaitGo(job);
    auto engine = job.StartEngine(rank);
    ASSERT_FALSE(engine.ok());
    EXPECT_THAT(engine.status().message(), HasSubstr(VictimsName()));
  });
  ASSERT_TRUE(job.AwaitReady(kRanks));
  StrikeAndReap(job);
}

// Struck when the victim has said a word of the roll call, of the doors, of the first channel: a
// job for each, side by side, since each takes the time to connect.
TEST_P(InitFailures, InTheMidstOfInitTheOthersNameTheRank) {
  const std::string me = std::to_string(victim());
  const bool shm = GetParam().over == Over::kShm;
  const std::string channel = shm ? "channel/0/host/0/unnamed/opened/word/" : "channel/0/all/word/";
  const std::string moments[] = {"places/word/" + me, "doors/word/" + me, channel + me};
  std::vector<std::unique_ptr<ProcessJob>> jobs;
  for (const std::string& moment : moments) {
    ProcessJob& job = *jobs.emplace_back(std::make_unique<ProcessJob>(Options()));
    job.Fork([&job](int rank) {
      if (rank != victim()) return ExpectVictimMissed(job, rank);
      (void)job.StartEngine(rank).ok();
      SleepUntilKilled();
    });
    ASSERT_TRUE(job.AwaitKey(moment));
    Hit(job);
  }
  for (const auto& job : jobs) {
    SCOPED_TRACE(moments[&job - jobs.data()]);
    Reap(*job);
  }
}

}  // namespace
}  // namespace horovodx::runtime

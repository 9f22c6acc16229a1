// Strike: a job of three ranks, one of which is killed or stopped by the test.
//
// Who is killed is to be noticed by what its end does to its sockets, so its peers would wait a
// minute for its heartbeat; who is stopped can only be missed, after a second.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/multiprocess/process_job.h"
#include "tests/support/engine_world.h"

namespace horovodx::runtime {

enum class Over { kShm, kTcp, kTls };

struct Blow {
  int signal;
  Over over;
  int victim;  // rank 0 coordinates the others
};

inline std::string NameOf(const testing::TestParamInfo<Blow>& given) {
  constexpr const char* kNames[] = {"Shm", "Tcp", "Tls"};
  return std::string(given.param.signal == SIGKILL ? "Kill" : "Stop") +
         std::to_string(given.param.victim) + kNames[static_cast<std::size_t>(given.param.over)];
}

inline std::vector<Blow> AllBlows() {
  std::vector<Blow> all;
  for (int signal : {SIGKILL, SIGSTOP}) {
    for (int victim : {0, 1}) {
      for (Over over : {Over::kShm, Over::kTcp}) all.push_back({signal, over, victim});
    }
  }
  // What TLS changes is how the end of a connection is seen.
  all.push_back({SIGKILL, Over::kTls, 1});
  return all;
}

class Strike : public testing::TestWithParam<Blow> {
 protected:
  using ProcessJob = testing_support::ProcessJob;
  using JobOptions = testing_support::JobOptions;
  static constexpr int kRanks = 3;

  static int victim() { return GetParam().victim; }
  static std::string VictimsName() { return "rank " + std::to_string(victim()); }
  static bool kills() { return GetParam().signal == SIGKILL; }
  // A second of heartbeat for who is stopped; the rest is for a loaded machine.
  static Duration KnownWithin() { return kills() ? Seconds(5) : Seconds(20); }

  static JobOptions Options() {
    JobOptions options;
    options.ranks = kRanks;
    options.heartbeat = kills() ? Seconds(60) : Seconds(1);
    options.tcp = GetParam().over != Over::kShm;
    options.tls = GetParam().over == Over::kTls;
    options.engine.shutdown_limit = Seconds(5);
    return options;
  }
  // In every rank: joins the others and runs `body`.
  static void ForkEngines(ProcessJob& job, const std::function<void(Engine&)>& body) {
    job.Fork([&job, body](int rank) {
      auto engine = job.StartEngine(rank);
      ASSERT_TRUE(engine.ok()) << engine.status().ToString();
      body(**engine);
    });
  }
  // Hits the victim and lets the others go on.
  static void Hit(ProcessJob& job) {
    job.board().struck = Clock::now();
    job.ranks().Signal(victim(), GetParam().signal);
    job.board().go = true;
  }
  // Expects all but the victim to end well.
  static void Reap(ProcessJob& job) {
    const auto deadline = Deadline::After(Seconds(45));
    for (int rank = 0; rank < kRanks; ++rank) {
      if (rank == victim()) continue;
      const auto ending = job.ranks().Wait(rank, deadline);
      EXPECT_TRUE(ending.ok()) << "rank " << rank << ": " << ending.ToString();
    }
    job.ranks().Signal(victim(), SIGKILL);
    job.ranks().Wait(victim(), deadline);
    EXPECT_THAT(job.ranks().LeftInDevShm(), testing::IsEmpty());
  }
  static void StrikeAndReap(ProcessJob& job) {
    Hit(job);
    Reap(job);
  }
  static void AwaitGo(ProcessJob& job) {
    while (!job.board().go) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  static void SleepUntilKilled() {
    std::this_thread::sleep_for(std::chrono::seconds(120));
    FAIL() << "nobody killed this rank";
  }
  // In a survivor that has just heard of it.
  static void ExpectInTime(ProcessJob& job) {
    const Duration taken = Clock::now() - job.board().struck.load();
    EXPECT_LT(ToSeconds(taken), ToSeconds(KnownWithin())) << "heard too late";
  }
  // Every handle ends in time with an error naming the victim.
  static void ExpectVictimNamed(ProcessJob& job, Engine& engine,
                                const std::vector<OperationPtr>& operations) {
    const auto deadline = Deadline::After(Seconds(30));
    for (const auto& operation : operations) {
      ASSERT_TRUE(engine.Wait(operation, deadline)) << operation->what.request.name << " hangs";
      EXPECT_EQ(operation->status.code(), StatusCode::kUnknown);
      EXPECT_THAT(operation->status.message(), testing::HasSubstr("Horovod has been shut down"));
      EXPECT_THAT(operation->status.message(), testing::HasSubstr(VictimsName()));
    }
    ExpectInTime(job);
  }
};

}  // namespace horovodx::runtime

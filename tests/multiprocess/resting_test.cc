// What a rank takes of its machine while it has nothing to do, and while it has much: real
// processes with courier and heartbeat, over shared memory and TCP.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/multiprocess/process_job.h"
#include "tests/support/engine_world.h"

namespace horovodx::runtime {
namespace {

using testing_support::Allreduce;
using testing_support::JobOptions;
using testing_support::ProcessJob;
using testing_support::SubmitAndWait;

constexpr std::size_t kMiB = 1 << 20;

class Resting : public testing::TestWithParam<bool> {
 protected:
  // Runs `body` in every rank and expects it to end well.
  static void Run(const std::function<void(Engine&)>& body) {
    JobOptions options;
    options.ranks = 2;
    options.tcp = GetParam();
    options.heartbeat = Seconds(10);  // what users have
    ProcessJob job(options);
    job.Fork([&](int rank) {
      auto engine = job.StartEngine(rank);
      ASSERT_TRUE(engine.ok()) << engine.status().ToString();
      body(**engine);
      Submission barrier;
      barrier.request.kind = negotiation::Kind::kBarrier;
      barrier.request.name = "barrier.noname";
      ASSERT_TRUE(SubmitAndWait(**engine, std::move(barrier)).ok());
    });
    for (const auto& ending : job.ranks().WaitAll(Deadline::After(Seconds(120)))) {
      EXPECT_TRUE(ending.ok()) << ending.ToString();
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Transport, Resting, testing::Bool(),
                         [](const auto& given) { return given.param ? "Tcp" : "Shm"; });

double CpuSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

TEST_P(Resting, AnIdleRankUsesNoCpu) {
  Run([](Engine& engine) {
    std::vector<float> x(100, 1.0f);
    for (int step = 0; step < 30; ++step) {  // with a plan in force
      ASSERT_TRUE(SubmitAndWait(engine, Allreduce("x", x, ReduceOp::kMax)).ok());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const double before = CpuSeconds();
    std::this_thread::sleep_for(std::chrono::seconds(2));
    // A thread that looked every millisecond would take as much as that.
    EXPECT_LT(CpuSeconds() - before, 0.01);
  });
}

long Sleeps() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nvcsw;
}

// A caller drives the engine while it waits; the engine thread has nothing to look after meanwhile.
TEST_P(Resting, WaitingForALatePeerWakesNobody) {
  Run([](Engine& engine) {
    std::vector<float> x(100, 1.0f);
    ASSERT_TRUE(SubmitAndWait(engine, Allreduce("x", x, ReduceOp::kMax)).ok());
    if (engine.rank() == 1) std::this_thread::sleep_for(std::chrono::seconds(1));
    const long before = Sleeps();
    ASSERT_TRUE(SubmitAndWait(engine, Allreduce("late", x, ReduceOp::kMax)).ok());
    // A thread that looked every millisecond would have slept a thousand times.
    EXPECT_LT(Sleeps() - before, 300);
  });
}

std::size_t StatusLine(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name)) return std::stoull(line.substr(name.size())) * 1024;
  }
  return 0;
}

// The peak, since a buffer that is given back has been taken all the same.
TEST_P(Resting, MemoryDoesNotGrowWithTheBuckets) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer has memory of its own for every byte";
#endif
  Run([](Engine& engine) {
    std::vector<float> small(1000, 1.0f);
    std::vector<float> large(64 * kMiB / sizeof(float), 1.0f);
    ASSERT_TRUE(SubmitAndWait(engine, Allreduce("small", small, ReduceOp::kMax)).ok());
    std::ofstream("/proc/self/clear_refs") << "5";  // the peak is from here on
    const std::size_t before = StatusLine("VmRSS:");
    ASSERT_GT(before, large.size() * sizeof(float));
    for (int step = 0; step < 3; ++step) {
      ASSERT_TRUE(SubmitAndWait(engine, Allreduce("large", large, ReduceOp::kMax)).ok());
    }
    const std::size_t peak = StatusLine("VmHWM:");
    EXPECT_LT(peak - std::min(peak, before), 16 * kMiB);
  });
}

}  // namespace
}  // namespace horovodx::runtime

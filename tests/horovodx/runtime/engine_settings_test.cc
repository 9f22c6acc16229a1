// Settings whose effect is seen only in a whole engine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>

#include <future>
#include <string>
#include <thread>
#include <vector>

#include "horovodx/runtime/engine.h"
#include "tests/support/engine_world.h"

namespace horovodx::runtime {
namespace {

using testing::HasSubstr;
using testing_support::Allreduce;
using testing_support::EngineWorld;
using testing_support::SubmitAndWait;

void SleepFor(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

// Tensors that come one by one, at first one alone. Returns the buckets that they made.
std::int64_t BucketsOfAStream(Engine& engine) {
  constexpr int kTensors = 8;
  std::vector<std::vector<float>> tensors(kTensors, std::vector<float>(3, 1.0f));
  std::vector<float> first(3, 1.0f);
  EXPECT_TRUE(SubmitAndWait(engine, Allreduce("first", first)).ok());
  std::vector<OperationPtr> operations;
  for (int i = 0; i < kTensors; ++i) {
    SleepFor(10);
    operations.push_back(*engine.Submit(Allreduce("t" + std::to_string(i), tensors[i])));
  }
  for (const auto& operation : operations) {
    EXPECT_TRUE(engine.Wait(operation, Deadline::After(Seconds(60))));
    EXPECT_TRUE(operation->status.ok()) << operation->status.ToString();
  }
  return engine.Counter("buckets_negotiated");
}

// HOROVOD_CYCLE_TIME: what comes while the window is shut leaves together when it opens.
TEST(EngineSettingsTest, ABatchingWindowMergesWhatComesOneByOne) {
  EngineOptions options;
  options.plans = false;
  options.cycle_time = Seconds(0.5);
  EngineWorld world(2, options);
  world.Run([](Engine& engine) { EXPECT_EQ(BucketsOfAStream(engine), 2); });
}

TEST(EngineSettingsTest, WithoutAWindowNothingIsHeldBack) {
  EngineOptions options;
  options.plans = false;
  EngineWorld world(2, options);
  world.Run([](Engine& engine) { EXPECT_GT(BucketsOfAStream(engine), 2); });
}

double CpuSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// An open window is no reason to wake up.
TEST(EngineSettingsTest, WaitingForAPeerWithAWindowUsesNoCpu) {
  EngineOptions options;
  options.cycle_time = std::chrono::microseconds(200);
  EngineWorld world(2, options);
  world.Run([](Engine& engine) {
    std::vector<float> x(3, 1.0f);
    ASSERT_TRUE(SubmitAndWait(engine, Allreduce("x", x)).ok());
    if (engine.rank() == 1) {
      SleepFor(100);
      const double before = CpuSeconds();
      SleepFor(500);
      EXPECT_LT(CpuSeconds() - before, 0.1);
    }
    ASSERT_TRUE(SubmitAndWait(engine, Allreduce("late", x)).ok());
  });
}

cpu_set_t CoresOfThisThread() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  EXPECT_EQ(::sched_getaffinity(0, sizeof(cores), &cores), 0);
  return cores;
}

// HOROVOD_THREAD_AFFINITY. Nobody waits for the tensor, so its callback runs on the engine thread.
TEST(EngineSettingsTest, TheEngineThreadRunsOnItsCoreAndTheCallerWhereItWas) {
  const cpu_set_t allowed = CoresOfThisThread();
  int last = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed)) last = core;
  }
  EngineOptions options;
  options.core = last;
  EngineWorld world(2, options);
  world.Run([&](Engine& engine) {
    std::promise<cpu_set_t> seen;
    std::vector<float> x(3, 1.0f);
    Submission s = Allreduce("x", x);
    s.done = [&](const Status&) { seen.set_value(CoresOfThisThread()); };
    ASSERT_TRUE(engine.Submit(std::move(s)).ok());
    const cpu_set_t cores = seen.get_future().get();
    EXPECT_EQ(CPU_COUNT(&cores), 1);
    EXPECT_TRUE(CPU_ISSET(last, &cores));
    const cpu_set_t mine = CoresOfThisThread();
    EXPECT_TRUE(CPU_EQUAL(&mine, &allowed));
  });
}

// Rank 0 waits for a tensor that rank 1 never submits; then both remove the set.
TEST(EngineSettingsTest, WhatARemovedProcessSetStillHadEndsWithAnErrorThatSaysSo) {
  EngineOptions options;
  options.process_sets = {{0, 1}};
  options.dynamic_process_sets = true;
  EngineWorld world(3, options);
  world.Run([](Engine& engine) {
    std::vector<float> x(3, 1.0f);
    Submission s = Allreduce("x", x);
    s.set = 1;
    OperationPtr left;
    if (engine.rank() == 0) left = *engine.Submit(s);
    std::string why;
    ASSERT_EQ(engine.RemoveProcessSet(1, why), 1) << why;
    if (left != nullptr) {
      ASSERT_TRUE(engine.Wait(left, Deadline::After(Seconds(60))));
      EXPECT_EQ(left->status.code(), StatusCode::kAborted);
      EXPECT_THAT(left->status.message(), HasSubstr("Process set has been removed"));
    }
    EXPECT_THAT(SubmitAndWait(engine, s).message(), HasSubstr("does not exist"));
    // The world goes on.
    ASSERT_TRUE(SubmitAndWait(engine, Allreduce("after", x)).ok());
  });
}

}  // namespace
}  // namespace horovodx::runtime

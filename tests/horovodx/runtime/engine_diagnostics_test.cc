// What an engine tells about itself: stalls, the timeline, and that it rests when there is nothing
// to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "horovodx/base/log.h"
#include "horovodx/base/mutex.h"
#include "horovodx/runtime/engine.h"
#include "tests/horovodx/runtime/trace_reader.h"
#include "tests/support/engine_world.h"

namespace horovodx::runtime {
namespace {

using testing::HasSubstr;
using testing_support::Allreduce;
using testing_support::EngineWorld;
using testing_support::SubmitAndWait;

Mutex g_mutex;
std::string g_log;
void Collect(LogLevel, const std::string& line) {
  MutexLock lock(g_mutex);
  g_log += line;
}
std::string Log() {
  MutexLock lock(g_mutex);
  return g_log;
}

class EngineDiagnostics : public testing::Test {
 protected:
  void SetUp() override {
    SetLogSink(Collect);
    MutexLock lock(g_mutex);
    g_log.clear();
  }
  void TearDown() override { SetLogSink(nullptr); }
};

TEST_F(EngineDiagnostics, AStallNamesRanksAndTensorsAndEndsWhenTheyCome) {
  EngineOptions options;
  options.stall_warning = Seconds(0.1);
  EngineWorld world(3, options);
  world.Run([](Engine& engine) {
    std::vector<float> x(4, 1.0f);
    if (engine.rank() == 2) {
      const auto deadline = Deadline::After(Seconds(30));
      while (Log().find("Missing ranks") == std::string::npos && !deadline.Passed()) {
        std::this_thread::yield();
      }
    }
    EXPECT_TRUE(SubmitAndWait(engine, Allreduce("late", x)).ok());
  });
  EXPECT_THAT(Log(), HasSubstr("One or more tensors were submitted to be reduced, gathered or"));
  EXPECT_THAT(Log(), HasSubstr("2: [late]"));
}

TEST_F(EngineDiagnostics, AStallInAPlannedStepIsSeenToo) {
  EngineOptions options;
  options.stall_warning = Seconds(0.1);
  options.patience = Seconds(0.1);
  EngineWorld world(2, options);
  world.Run([](Engine& engine) {
    std::vector<float> x(4, 1.0f);
    for (int step = 0; step < 20; ++step) {
      ASSERT_TRUE(SubmitAndWait(engine, Allreduce("planned", x, ReduceOp::kMax)).ok());
    }
    EXPECT_GE(engine.Counter("plans_started"), 1);
    if (engine.rank() == 1) {
      const auto deadline = Deadline::After(Seconds(30));
      while (Log().find("1: [planned]") == std::string::npos && !deadline.Passed()) {
        std::this_thread::yield();
      }
    }
    EXPECT_TRUE(SubmitAndWait(engine, Allreduce("planned", x, ReduceOp::kMax)).ok());
  });
  EXPECT_THAT(Log(), HasSubstr("1: [planned]"));
}

TEST_F(EngineDiagnostics, AStallBeyondTheShutdownTimeEndsTheJob) {
  EngineOptions options;
  options.stall_warning = Seconds(0.1);
  options.stall_shutdown = Seconds(0.3);
  EngineWorld world(2, options);
  world.Run([](Engine& engine) {
    std::vector<float> x(4, 1.0f);
    if (engine.rank() == 1) {
      const auto deadline = Deadline::After(Seconds(30));
      while (!engine.stopped() && !deadline.Passed()) std::this_thread::yield();
      return;
    }
    const Status status = SubmitAndWait(engine, Allreduce("never", x));
    EXPECT_EQ(status.code(), StatusCode::kUnknown);
    EXPECT_THAT(status.message(), HasSubstr("Horovod has been shut down"));
    EXPECT_THAT(status.message(), HasSubstr("stalled ranks: 1"));
  });
  EXPECT_THAT(Log(), HasSubstr("1!: [never]"));
}

TEST_F(EngineDiagnostics, TheTimelineShowsNegotiationAndOperation) {
  const std::string path =
      testing::TempDir() + "engine_timeline." + std::to_string(::getpid()) + ".json";
  EngineOptions options;
  options.timeline_enabled = options.timeline = true;
  EngineWorld world(2, options);
  world.Run([&](Engine& engine) {
    if (engine.rank() == 0) {
      ASSERT_TRUE(engine.timeline().Start(path, false));
    }
    std::vector<float> x(6, 1.0f);
    for (int step = 0; step < 3; ++step) {
      EXPECT_TRUE(SubmitAndWait(engine, Allreduce("seen", x)).ok());
    }
  });
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  for (const char* part : {"\"seen\"", "NEGOTIATE_ALLREDUCE", "\"ALLREDUCE\"", "float32", "[6]"}) {
    EXPECT_THAT(text.str(), HasSubstr(part));
  }
  EXPECT_THAT(text.str().substr(text.str().find_last_not_of(" \n")), testing::StartsWith("]"));
  std::remove(path.c_str());
}

// Steps of eight tensors, all given before any is waited for.
void TrainSteps(Engine& engine, int steps) {
  std::vector<std::vector<float>> tensors(8, std::vector<float>(1000));
  for (int step = 0; step < steps; ++step) {
    std::vector<OperationPtr> operations;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      tensors[i].assign(1000 + i, static_cast<float>(step + engine.rank()));
      auto operation = engine.Submit(Allreduce("t" + std::to_string(i), tensors[i]));
      ASSERT_TRUE(operation.ok());
      operations.push_back(*operation);
    }
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      ASSERT_TRUE(engine.Wait(operations[i], Deadline::After(std::chrono::seconds(60))));
      ASSERT_TRUE(operations[i]->status.ok()) << operations[i]->status.ToString();
      const auto ranks = static_cast<float>(engine.process_sets().SizeOf(0));
      ASSERT_EQ(tensors[i].back(), ranks * static_cast<float>(step) + ranks * (ranks - 1) / 2);
    }
  }
}

TEST_F(EngineDiagnostics, APlanIsMadeAnewOnAllRanksWhenCostsHaveMoved) {
  EngineOptions options;
  options.schedule = "optimal";
  // As good as is good enough, and any difference from what was assumed counts.
  options.replan = {.share = 1e-6, .gain = 0.0, .first_check = 4};
  EngineWorld world(3, options);
  std::array<std::int64_t, 3> started{};
  world.Run([&](Engine& engine) {
    TrainSteps(engine, 60);
    started[engine.rank()] = engine.Counter("plans_started");
    if (engine.rank() != 0) return;
    EXPECT_GE(engine.Counter("plans_made_anew"), 1);
    EXPECT_GT(engine.Counter("cost_samples"), 0);
    EXPECT_GT(engine.Counter("cost_1mib_ns"), 0);
    EXPECT_GE(engine.Counter("cost_1mib_ns"), engine.Counter("cost_0_ns"));
  });
  EXPECT_GE(started[0], 2);
  EXPECT_EQ(started[1], started[0]);
  EXPECT_EQ(started[2], started[0]);
}

// Plans are cut on rank 0 by what buckets take there.
TEST_F(EngineDiagnostics, WaitingForARankThatIsAlwaysLateIsNotWhatABucketCosts) {
  EngineOptions options;
  options.schedule = "optimal";
  options.replan = {.share = 1e-6, .gain = 0.0, .first_check = 4};  // costs are looked at often
  EngineWorld world(2, options);
  world.Run([](Engine& engine) {
    std::vector<float> x(1000, 1.0f);
    // Enough steps that those before the plan, which wait for nobody, are forgotten.
    for (int step = 0; step < 80; ++step) {
      if (engine.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(40));
      ASSERT_TRUE(SubmitAndWait(engine, Allreduce("x", x)).ok());  // every bucket waits
    }
    if (engine.rank() != 0) return;
    EXPECT_GT(engine.Counter("cost_samples"), 0);
    EXPECT_LT(engine.Counter("cost_0_ns"), 20'000'000);
  });
}

TEST_F(EngineDiagnostics, APlanStaysWhereItIsNotToBeMadeAnew) {
  EngineOptions options;
  options.schedule = "optimal";
  options.replan = {.share = 0.0, .gain = 0.0, .first_check = 4};
  EngineWorld world(2, options);
  world.Run([](Engine& engine) {
    TrainSteps(engine, 60);
    EXPECT_EQ(engine.Counter("plans_made_anew"), 0);
  });
}

std::size_t Count(const std::vector<std::string>& trace, const std::string& part) {
  return static_cast<std::size_t>(std::count_if(
      trace.begin(), trace.end(),
      [&](const std::string& record) { return record.find(part) != std::string::npos; }));
}

TEST_F(EngineDiagnostics, TheTimelineShowsPlansTheirStepsAndWhyTheyWereLeft) {
  const std::string path =
      testing::TempDir() + "engine_plans." + std::to_string(::getpid()) + ".json";
  EngineOptions options;
  options.timeline_enabled = options.timeline = true;
  options.schedule = "wfbp";
  EngineWorld world(2, options);
  world.Run([&](Engine& engine) {
    if (engine.rank() == 0) {
      ASSERT_TRUE(engine.timeline().Start(path, false));
    }
    TrainSteps(engine, 20);
    std::vector<float> x(6, 1.0f);
    ASSERT_TRUE(SubmitAndWait(engine, Allreduce("evaluated", x)).ok());
    TrainSteps(engine, 20);
  });
  const auto trace = ReadTrace(path);
  std::remove(path.c_str());
  const std::size_t plans = Count(trace, R"("name":"PLAN","ph":"B","pid":0,"tid":0)");
  EXPECT_GE(plans, 2u);
  EXPECT_EQ(Count(trace, R"("buckets":8)"), plans) << "one tensor a bucket";
  EXPECT_EQ(Count(trace, R"("rule":"wfbp")"), plans);
  // Each begins once and ends once; the last one with the job.
  EXPECT_EQ(Count(trace, R"("why":)"), plans);
  EXPECT_GE(Count(trace, "'evaluated' is not in the plan"), 1u);
  EXPECT_EQ(Count(trace, "the job ends, or the set is removed"), 1u);
  const std::size_t steps = Count(trace, R"("name":"STEP","ph":"i","pid":0)");
  EXPECT_GE(steps, 20u);
  // Every bucket of every step, on the lane of buckets and with its tensor.
  for (int index = 0; index < 8; ++index) {
    const std::string place = R"("index":)" + std::to_string(index) + ",";
    EXPECT_GE(Count(trace, place), 2 * steps) << place;
  }
  EXPECT_EQ(Count(trace, R"("index":8,)"), 0u);
  EXPECT_GE(Count(trace, R"("name":"ALLREDUCE, bucket 7","ph":"B","pid":0,"tid":1)"), steps);
}

std::size_t CountInLog(const std::string& part) {
  const std::string log = Log();
  std::size_t count = 0;
  for (auto at = log.find(part); at != std::string::npos; at = log.find(part, at + 1)) ++count;
  return count;
}

TEST_F(EngineDiagnostics, WhatAllreducesTakeIsSaidOnceItIsKnown) {
  SetLogOptions({.level = LogLevel::kInfo});
  EngineOptions options;
  options.schedule = "fusion";
  EngineWorld hosts(topology::HostMap::Grid(2, 2), options);
  hosts.Run([](Engine& engine) { TrainSteps(engine, 40); });
  EXPECT_GE(CountInLog("allreduces over links: "), 1u);
  EXPECT_EQ(CountInLog("plans are made for"), 0u) << "the schedule does not ask what they take";
  options.schedule = "optimal";
  EngineWorld one_host(2, options);
  one_host.Run([](Engine& engine) { TrainSteps(engine, 40); });
  EXPECT_GE(CountInLog("plans are made for allreduces that take "), 1u);
  SetLogOptions({});
}

double CpuSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

TEST_F(EngineDiagnostics, AnIdleJobUsesNoCpu) {
  EngineWorld world(3);
  world.Run([](Engine& engine) {
    std::vector<float> x(6, 1.0f);
    for (int step = 0; step < 30; ++step) {  // with a plan in force
      ASSERT_TRUE(SubmitAndWait(engine, Allreduce("x", x, ReduceOp::kMax)).ok());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const double before = CpuSeconds();
    std::this_thread::sleep_for(std::chrono::seconds(1));
    // Of three engines together, in a second; what remains is this test's own waking up.
    EXPECT_LT(CpuSeconds() - before, 0.02);
  });
}

}  // namespace
}  // namespace horovodx::runtime

// Autotuning: settings change at the same step on all ranks, results do not change, the log tells.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "horovodx/base/log.h"
#include "horovodx/base/mutex.h"
#include "horovodx/runtime/engine.h"
#include "horovodx/tuning/csv.h"
#include "tests/support/engine_world.h"

namespace horovodx::runtime {
namespace {

using testing_support::Allreduce;
using testing_support::EngineWorld;
using topology::HostMap;

constexpr int kRanks = 3;
constexpr std::size_t kTensors = 5;

EngineOptions Tuned(const std::string& log) {
  EngineOptions options;
  options.autotune.enabled = true;
  options.autotune.warmup_samples = 0;
  options.autotune.steps_per_sample = 2;
  options.autotune.search.max_samples = 2;
  options.autotune.search.free.schedules = {"fusion", "optimal"};
  options.autotune.search.free.fusion_threshold = true;
  options.autotune_log = log;
  return options;
}

using Plans = std::array<std::int64_t, kRanks>;

// Appends all results of rank 0, step by step. Sums depend on the order in which they are added up.
void TrainOn(Engine& engine, int steps, std::size_t first_size, std::vector<float>& all,
             Plans* plans) {
  std::vector<std::vector<float>> tensors(kTensors);
  for (int step = 0; step < steps; ++step) {
    std::vector<OperationPtr> operations;
    for (std::size_t t = 0; t < kTensors; ++t) {
      tensors[t].resize(first_size + 100 * t);
      for (std::size_t i = 0; i < tensors[t].size(); ++i) {
        const auto rank = static_cast<std::size_t>(engine.rank());
        tensors[t][i] =
            1.0f / static_cast<float>(3 + i + 7 * rank + static_cast<std::size_t>(step));
      }
      auto operation = engine.Submit(Allreduce("t" + std::to_string(t), tensors[t]));
      ASSERT_TRUE(operation.ok());
      operations.push_back(*operation);
    }
    for (std::size_t t = 0; t < kTensors; ++t) {
      ASSERT_TRUE(engine.Wait(operations[t], Deadline::After(std::chrono::seconds(60))));
      ASSERT_TRUE(operations[t]->status.ok()) << operations[t]->status.ToString();
      if (engine.rank() == 0) all.insert(all.end(), tensors[t].begin(), tensors[t].end());
    }
  }
  if (plans != nullptr) (*plans)[engine.rank()] = engine.Counter("plans_started");
}

std::vector<float> Train(EngineWorld& world, int steps, std::size_t first_size,
                         Plans* plans = nullptr) {
  std::vector<float> all;
  world.Run([&](Engine& engine) { TrainOn(engine, steps, first_size, all, plans); });
  return all;
}

std::vector<std::string> LinesOf(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::vector<double> NumbersOf(const std::string& line) {
  std::vector<double> numbers;
  std::stringstream text(line);
  for (std::string word; std::getline(text, word, ',');) numbers.push_back(std::stod(word));
  return numbers;
}

bool Same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST(EngineAutotuneTest, OnOneHostResultsAreThoseOfAnUntunedRunBitForBit) {
  const std::string log = testing::TempDir() + "autotune." + std::to_string(::getpid()) + ".csv";
  constexpr int kSteps = 400;
  EngineWorld tuned_world(kRanks, Tuned(log));
  Plans plans{};
  const std::vector<float> tuned = Train(tuned_world, kSteps, 500, &plans);
  EngineWorld plain_world(kRanks);
  EXPECT_TRUE(Same(tuned, Train(plain_world, kSteps, 500)));
  // A setting changes with a plan, and a plan starts at the same place everywhere.
  EXPECT_GT(plans[0], 4);
  EXPECT_EQ(plans[1], plans[0]);
  EXPECT_EQ(plans[2], plans[0]);

  const std::vector<std::string> lines = LinesOf(log);
  std::remove(log.c_str());
  ASSERT_GE(lines.size(), 5u);
  EXPECT_EQ(lines[0], tuning::CsvHeader());
  std::vector<double> thresholds;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::vector<double> row = NumbersOf(lines[i]);
    ASSERT_EQ(row.size(), 7u) << lines[i];
    EXPECT_EQ(row[3], 1.0) << "the cache is on";
    EXPECT_GT(row[6], 0.0) << "a score";
    thresholds.push_back(row[5]);
  }
  EXPECT_EQ(thresholds[0], 128.0) << "the setting given comes first";
  EXPECT_THAT(thresholds, testing::Contains(4.0));
}

TEST(EngineAutotuneTest, DeterministicResultsBetweenHostsDoNotChangeEither) {
  EngineOptions tuned = Tuned("");
  tuned.execute.deterministic = true;
  EngineOptions plain;
  plain.execute.deterministic = true;
  EngineWorld tuned_world(HostMap({"a", "a", "b"}), tuned);
  EngineWorld plain_world(HostMap({"a", "a", "b"}), plain);
  EXPECT_TRUE(Same(Train(tuned_world, 120, 50), Train(plain_world, 120, 50)));
}

// Everything free, and another setting every few steps.
EngineOptions RestlesslyTuned() {
  EngineOptions options = Tuned("");
  options.autotune.search.max_samples = 8;
  options.autotune.search.first.streams = 1;
  options.autotune.search.free.segment = true;
  options.autotune.search.free.most_streams = 4;
  return options;
}

Mutex g_mutex;
std::vector<std::string> g_tried;  // lines of the log
void CollectTried(LogLevel, const std::string& line) {
  MutexLock lock(g_mutex);
  if (line.find("Autotuner:") != std::string::npos) g_tried.push_back(line);
}
std::set<std::string> WordsAfter(const std::string& word) {
  MutexLock lock(g_mutex);
  std::set<std::string> values;
  for (const std::string& line : g_tried) {
    const auto at = line.find(word);
    if (at != std::string::npos) {
      values.insert(line.substr(at + word.size(), line.find_first_of(",)", at) - at));
    }
  }
  return values;
}

class EngineAutotuneLogged : public testing::Test {
 protected:
  void SetUp() override {
    {
      MutexLock lock(g_mutex);
      g_tried.clear();
    }
    SetLogSink(CollectTried);
    SetLogOptions({LogLevel::kInfo, /*hide_time=*/true});
  }
  void TearDown() override {
    SetLogSink(nullptr);
    SetLogOptions({});
  }
};
class EngineAutotuneOverTcp : public EngineAutotuneLogged,
                              public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, EngineAutotuneOverTcp, testing::Values(2, 3, 4));

// Sums are exact, whatever the order: any wrong bit is an error of the transport or of an
// algorithm.
TEST_P(EngineAutotuneOverTcp, SegmentsAndStreamsSwitchAndEveryBitIsRight) {
  const int ranks = GetParam();
  constexpr int kSteps = 220;
  const std::size_t sizes[] = {3, 20'000, 100'003};
  std::vector<std::int64_t> plans(static_cast<std::size_t>(ranks));
  testing_support::RunEnginesOverTcp(ranks, RestlesslyTuned(), 4, [&](Engine& engine) {
    const auto value = [](int step, std::size_t i, int rank) {
      return static_cast<float>((static_cast<std::size_t>(step) + 3 * i) % 97) +
             static_cast<float>(rank);
    };
    std::vector<std::vector<float>> tensors(std::size(sizes));
    for (int step = 0; step < kSteps; ++step) {
      std::vector<OperationPtr> operations;
      for (std::size_t t = 0; t < tensors.size(); ++t) {
        tensors[t].resize(sizes[t]);
        for (std::size_t i = 0; i < sizes[t]; ++i) tensors[t][i] = value(step, i, engine.rank());
        auto operation = engine.Submit(Allreduce("t" + std::to_string(t), tensors[t]));
        ASSERT_TRUE(operation.ok());
        operations.push_back(*operation);
      }
      for (std::size_t t = 0; t < tensors.size(); ++t) {
        ASSERT_TRUE(engine.Wait(operations[t], Deadline::After(std::chrono::seconds(120))));
        ASSERT_TRUE(operations[t]->status.ok()) << operations[t]->status.ToString();
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < sizes[t]; ++i) {
          const float sum = static_cast<float>(ranks) * value(step, i, 0) +
                            static_cast<float>(ranks * (ranks - 1) / 2);
          wrong += tensors[t][i] != sum ? 1 : 0;
        }
        ASSERT_EQ(wrong, 0u) << "of tensor " << t << " in step " << step;
      }
    }
    plans[static_cast<std::size_t>(engine.rank())] = engine.Counter("plans_started");
  });
  for (const std::int64_t count : plans) EXPECT_EQ(count, plans[0]);
  EXPECT_GE(WordsAfter("segment ").size(), 3u);
  EXPECT_GE(WordsAfter("streams ").size(), 2u);
}

TEST_F(EngineAutotuneLogged, OverTcpDeterministicResultsAreThoseOfAnUntunedRunBitForBit) {
  const auto train = [](const EngineOptions& options) {
    std::vector<float> all;
    testing_support::RunEnginesOverTcp(
        kRanks, options, 4, [&](Engine& engine) { TrainOn(engine, 100, 30'000, all, nullptr); });
    return all;
  };
  EngineOptions tuned = RestlesslyTuned();
  tuned.execute.deterministic = true;
  EngineOptions plain;
  plain.execute.deterministic = true;
  EXPECT_TRUE(Same(train(tuned), train(plain)));
  EXPECT_GE(WordsAfter("segment ").size(), 2u);
}

TEST(EngineAutotuneTest, OnTheStageNeitherSegmentsNorStreamsAreTuned) {
  EngineOptions options = RestlesslyTuned();
  options.autotune.search.free.schedules.clear();
  options.autotune.search.free.fusion_threshold = false;
  const std::string log = testing::TempDir() + "staged." + std::to_string(::getpid()) + ".csv";
  options.autotune_log = log;
  EngineWorld world(2, options);
  EXPECT_FALSE(Train(world, 60, 10).empty());
  EXPECT_EQ(LinesOf(log).size(), 1u) << "nothing was tried: only the header is there";
  std::remove(log.c_str());
}

TEST(EngineAutotuneTest, ALogThatCannotBeWrittenIsNoReasonToStop) {
  EngineWorld world(kRanks, Tuned("/nowhere/at/all.csv"));
  EXPECT_FALSE(Train(world, 60, 10).empty());
}

}  // namespace
}  // namespace horovodx::runtime

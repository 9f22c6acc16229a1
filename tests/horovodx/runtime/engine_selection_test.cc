// Which allreduce runs: chosen by rank 0 from what it measured, the same on all ranks, told in the
// timeline and to who asks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "horovodx/runtime/engine.h"
#include "tests/support/engine_world.h"

namespace horovodx::runtime {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing_support::Allreduce;
using testing_support::EngineWorld;
using testing_support::SubmitAndWait;
using topology::HostMap;

// Sizes on both sides of what the rules would do differently; sums are exact.
const std::size_t kElements[] = {3, 1000, 70'000};

void TrainSteps(Engine& engine, int steps, float value = 1.0f) {
  const auto ranks = static_cast<float>(engine.process_sets().SizeOf(0));
  for (int step = 0; step < steps; ++step) {
    std::vector<std::vector<float>> tensors;
    std::vector<OperationPtr> operations;
    for (const std::size_t n : kElements) {
      tensors.emplace_back(n, value * static_cast<float>(engine.rank() + step));
    }
    for (auto& tensor : tensors) {
      auto operation = engine.Submit(Allreduce("t" + std::to_string(tensor.size()), tensor));
      ASSERT_TRUE(operation.ok());
      operations.push_back(*operation);
    }
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      ASSERT_TRUE(engine.Wait(operations[i], Deadline::After(std::chrono::seconds(60))));
      ASSERT_TRUE(operations[i]->status.ok()) << operations[i]->status.ToString();
      const float sum = ranks * static_cast<float>(step) + ranks * (ranks - 1) / 2;
      for (float x : tensors[i]) ASSERT_EQ(x, value * sum);
    }
  }
}

struct Algorithms {
  std::set<std::string> names;
  std::string text;
};

// What the timeline of rank 0 says that ran.
Algorithms Recorded(EngineWorld& world, int steps) {
  const std::string path = testing::TempDir() + "selection." + std::to_string(::getpid()) + ".json";
  world.Run([&](Engine& engine) {
    if (engine.rank() == 0) {
      ASSERT_TRUE(engine.timeline().Start(path, false));
    }
    TrainSteps(engine, steps);
  });
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  std::remove(path.c_str());
  Algorithms found{{}, text.str()};
  const std::string key = "\"algorithm\":\"";
  for (std::size_t at = found.text.find(key); at != std::string::npos;
       at = found.text.find(key, at + 1)) {
    const std::size_t begin = at + key.size();
    found.names.insert(found.text.substr(begin, found.text.find('"', begin) - begin));
  }
  return found;
}

EngineOptions Traced() {
  EngineOptions options;
  options.timeline_enabled = options.timeline = true;
  return options;
}

TEST(EngineSelectionTest, BetweenHostsSeveralAlgorithmsAreTriedAndResultsStayRight) {
  EngineWorld world(HostMap({"a", "a", "b", "b", "c"}), Traced());
  const Algorithms ran = Recorded(world, 80);
  EXPECT_GE(ran.names.size(), 2u);
  EXPECT_THAT(ran.text, HasSubstr("predicted_start"));
  EXPECT_THAT(ran.text, HasSubstr("predicted_end"));
}

TEST(EngineSelectionTest, WithRulesOrDeterminismNothingIsTried) {
  EngineOptions rules = Traced();
  rules.measured_selection = false;
  rules.schedule = "wfbp";
  EngineWorld by_rules(HostMap::Grid(2, 2), rules);
  EXPECT_THAT(Recorded(by_rules, 40).names,
              testing::UnorderedElementsAre("hierarchical", "recursive_halving_doubling"));
  EngineOptions sure = Traced();
  sure.execute.deterministic = true;
  EngineWorld deterministic(HostMap::Grid(2, 2), sure);
  for (const std::string& name : Recorded(deterministic, 40).names) {
    EXPECT_TRUE(name == "all_to_all" || name == "round_robin") << name;
  }
}

TEST(EngineSelectionTest, TheUsersRuleWins) {
  EngineOptions options = Traced();
  options.execute.allreduce = {{collectives::AllreduceAlgorithm::kTree}};
  EngineWorld world(HostMap::Grid(3, 1), options);
  EXPECT_THAT(Recorded(world, 40).names, testing::ElementsAre("tree"));
}

TEST(EngineSelectionTest, OneHostStaysOnItsStage) {
  EngineWorld world(HostMap::OneHost(3), Traced());
  EXPECT_THAT(Recorded(world, 30).names, testing::ElementsAre("staged"));
}

TEST(EngineSelectionTest, OneHostLeavesItsStageForWhatTheUserNames) {
  EngineOptions options = Traced();
  options.schedule = "wfbp";
  options.execute.allreduce = {{collectives::AllreduceAlgorithm::kTree, 1000, 10'000}};
  EngineWorld some(HostMap::OneHost(3), options);
  EXPECT_THAT(Recorded(some, 40).names, testing::UnorderedElementsAre("staged", "tree"));
  options.execute.deterministic = true;  // goes before
  EngineWorld none(HostMap::OneHost(3), options);
  EXPECT_THAT(Recorded(none, 10).names, testing::ElementsAre("staged"));
}

TEST(EngineSelectionTest, TheTableOfOneHostHasTheUsersRulesToo) {
  EngineOptions options;
  options.schedule = "optimal";
  options.execute.allreduce = {{collectives::AllreduceAlgorithm::kTree, 1000, 10'000}};
  EngineWorld world(HostMap::OneHost(2), options);
  world.Run([](Engine& engine) {
    TrainSteps(engine, 30);
    const std::string selection = engine.Describe("allreduce_selection");
    const std::string table = engine.Describe("allreduce_selection_table");
    TrainSteps(engine, 1);  // nobody ends its engine before all have asked
    if (engine.rank() != 0) return;
    EXPECT_THAT(selection, HasSubstr(R"({"from": 0, "to": 1000, "algorithm": "staged", )"));
    EXPECT_THAT(selection, HasSubstr(R"({"from": 1000, "to": 10000, "algorithm": "tree", )"));
    EXPECT_THAT(
        selection,
        HasSubstr(R"({"from": 10000, "to": null, "algorithm": "staged", "why": "one host")"));
    EXPECT_THAT(selection, Not(HasSubstr(R"("samples": 0)")));
    EXPECT_THAT(table, HasSubstr("one host: through memory its ranks share"));
    EXPECT_THAT(table, HasSubstr("override"));
  });
}

TEST(EngineSelectionTest, AFlagThatSaysNoIsKeptToWhateverIsMeasured) {
  EngineOptions options = Traced();
  options.execute.hierarchical = false;
  options.execute.torus = false;
  EngineWorld world(HostMap({"a", "a", "b", "b", "c"}), options);
  const Algorithms ran = Recorded(world, 80);
  EXPECT_THAT(ran.names, Not(IsEmpty()));
  for (const char* name : {"hierarchical", "hierarchical_slices", "torus"}) {
    EXPECT_FALSE(ran.names.contains(name)) << name;
  }
}

TEST(EngineSelectionTest, RankZeroTellsWhatItKnows) {
  EngineWorld world(HostMap::Grid(2, 2), {});
  world.Run([](Engine& engine) {
    TrainSteps(engine, 60);
    const std::string selection = engine.Describe("allreduce_selection");
    const std::string table = engine.Describe("allreduce_selection_table");
    const std::string costs = engine.Describe("allreduce_costs");
    EXPECT_THAT(engine.Describe("nothing"), IsEmpty());
    TrainSteps(engine, 1);  // nobody ends its engine before all have asked
    if (engine.rank() != 0) {
      for (const std::string& text : {selection, table, costs}) EXPECT_THAT(text, IsEmpty());
      return;
    }
    EXPECT_THAT(selection, HasSubstr(R"("hosts": 2, "on_stage": false)"));
    EXPECT_THAT(selection, HasSubstr(R"("why": "measured")"));
    EXPECT_THAT(table, HasSubstr("between hosts"));
    EXPECT_THAT(costs, HasSubstr(R"("levels": {"host": {"latency": )"));
    EXPECT_THAT(costs, HasSubstr(R"(": [{"bytes": )"));
  });
}

// Algorithms are tried and measured all the time, but ranks need not talk about it.
TEST(EngineSelectionTest, PlannedStepsSendNoControlMessagesWhateverIsMeasured) {
  constexpr int kBlocks = 40;
  EngineOptions options;
  options.schedule = "optimal";
  options.replan.share = 0.0;  // a plan that is cut anew would be talked about
  EngineWorld world(HostMap::Grid(2, 2), options);
  std::array<std::atomic<std::int64_t>, kBlocks> said{};
  world.Run([&](Engine& engine) {
    for (auto& block : said) {
      const std::int64_t before = engine.Counter("control_messages_sent");
      TrainSteps(engine, 10);
      block += engine.Counter("control_messages_sent") - before;
    }
    EXPECT_GT(engine.Counter("buckets_planned"), 0);
    if (engine.rank() == 0) {
      EXPECT_THAT(engine.Describe("allreduce_selection"),
                  AllOf(AnyOf(HasSubstr("measured"), HasSubstr("predicted")),
                        Not(HasSubstr("\"samples\": 0,"))));
    }
    TrainSteps(engine, 1);  // nobody ends its engine before all have asked
  });
  EXPECT_GT(said.front(), 0) << "first it is negotiated";
  // Later a plan may give way to one with faster algorithms, ever more rarely.
  const auto silent = std::count(said.begin() + kBlocks / 2, said.end(), 0);
  EXPECT_GE(silent, kBlocks / 4);
}

TEST(EngineSelectionTest, WithoutAStageOneHostIsMeasuredToo) {
  transport::loopback::WorldOptions transport;
  transport.stages = false;
  EngineWorld world(HostMap::OneHost(3), {}, transport);
  world.Run([](Engine& engine) {
    TrainSteps(engine, 60);
    const std::string selection = engine.Describe("allreduce_selection");
    const std::string costs = engine.Describe("allreduce_costs");
    TrainSteps(engine, 1);  // nobody ends its engine before all have asked
    if (engine.rank() != 0) return;
    // By time, of what has run or of what links say it would take.
    EXPECT_THAT(selection, AnyOf(HasSubstr("measured"), HasSubstr("predicted")));
    EXPECT_THAT(selection, Not(HasSubstr("\"samples\": 0,")));
    EXPECT_THAT(costs, Not(HasSubstr("\"levels\": null")));
  });
}

TEST(EngineSelectionTest, AloneThereIsATableToo) {
  EngineWorld world(1);
  world.Run([](Engine& engine) {
    TrainSteps(engine, 10);
    EXPECT_THAT(engine.Describe("allreduce_selection"), HasSubstr(R"("ranks": 1)"));
  });
}

// Values whose sum depends on the order in which they are added up.
TEST(EngineSelectionTest, DeterministicResultsDoNotDependOnWhatWasMeasured) {
  std::vector<std::vector<float>> last(2);
  for (int run = 0; run < 2; ++run) {
    EngineOptions options;
    options.execute.deterministic = true;
    options.schedule = run == 0 ? "wfbp" : "optimal";
    EngineWorld world(HostMap::Grid(2, 2), options);
    world.Run([&](Engine& engine) {
      std::vector<float> x;
      for (int step = 0; step < 40; ++step) {
        x.assign(5000, 0.0f);
        for (std::size_t i = 0; i < x.size(); ++i) {
          x[i] = 1.0f / static_cast<float>(3 + i + 7 * static_cast<std::size_t>(engine.rank()));
        }
        ASSERT_TRUE(SubmitAndWait(engine, Allreduce("x", x)).ok());
      }
      if (engine.rank() == 0) last[run] = x;
    });
  }
  EXPECT_EQ(std::memcmp(last[0].data(), last[1].data(), last[0].size() * sizeof(float)), 0);
}

}  // namespace
}  // namespace horovodx::runtime

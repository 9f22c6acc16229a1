#include "horovodx/runtime/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/engine_world.h"

namespace horovodx::runtime {
namespace {

using negotiation::Kind;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::Allreduce;
using testing_support::EngineWorld;
using testing_support::SubmitAndWait;

class EngineSizes : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, EngineSizes, testing::Values(1, 2, 3, 4, 7));

TEST_P(EngineSizes, AllreduceSumsOverRanksAgainAndAgain) {
  EngineWorld world(GetParam());
  world.Run([&](Engine& engine) {
    const int n = GetParam();
    for (int step = 0; step < 50; ++step) {
      std::vector<float> x(17, static_cast<float>(engine.rank() + step));
      ASSERT_TRUE(SubmitAndWait(engine, Allreduce("x", x)).ok());
      ASSERT_THAT(x, Each(static_cast<float>(n * (n - 1) / 2 + n * step)));
    }
  });
}

TEST_P(EngineSizes, RunIsSubmitAndWaitInOne) {
  EngineWorld world(GetParam());
  world.Run([&](Engine& engine) {
    for (int step = 0; step < 100; ++step) {
      std::vector<float> x(3, 1.0f);
      ASSERT_TRUE(engine.Run(Allreduce("x", x)).ok());
      ASSERT_THAT(x, Each(static_cast<float>(GetParam())));
    }
  });
}

TEST_P(EngineSizes, ManyTensorsInFlightFinishWhateverTheOrder) {
  EngineWorld world(GetParam());
  world.Run([&](Engine& engine) {
    constexpr int kTensors = 40;
    for (int step = 0; step < 8; ++step) {
      std::vector<std::vector<float>> tensors;
      for (int i = 0; i < kTensors; ++i) tensors.emplace_back(1 + i * 37, 1.0f * i);
      std::vector<OperationPtr> operations;
      for (int i = 0; i < kTensors; ++i) {
        // Each rank starts somewhere else.
        const int t = (i + engine.rank() * 7 + step) % kTensors;
        auto operation = engine.Submit(Allreduce("t" + std::to_string(t), tensors[t]));
        ASSERT_TRUE(operation.ok()) << operation.status().ToString();
        operations.push_back(*operation);
      }
      for (const auto& operation : operations) {
        ASSERT_TRUE(engine.Wait(operation, Deadline::After(Seconds(60))));
        ASSERT_TRUE(operation->status.ok()) << operation->status.ToString();
      }
      for (int i = 0; i < kTensors; ++i) {
        ASSERT_THAT(tensors[i], Each(static_cast<float>(i * GetParam())));
      }
    }
  });
}

TEST(EngineTest, RepeatedStepsRunWithoutControlMessages) {
  EngineOptions options;
  options.replan.share = 0.0;  // a plan that is cut anew would be talked about
  EngineWorld world(2, options);
  world.Run([](Engine& engine) {
    auto step = [&] {
      std::vector<std::vector<float>> tensors(5, std::vector<float>(100, 1.0f));
      std::vector<OperationPtr> operations;
      for (int i = 0; i < 5; ++i) {
        operations.push_back(*engine.Submit(Allreduce("g" + std::to_string(i), tensors[i])));
      }
      for (const auto& operation : operations) {
        ASSERT_TRUE(engine.Wait(operation, Deadline::After(Seconds(60))));
        ASSERT_TRUE(operation->status.ok());
      }
    };
    for (int i = 0; i < 20; ++i) step();
    EXPECT_EQ(engine.Counter("plans_started"), 1);
    const auto negotiated = engine.Counter("buckets_negotiated");
    const auto planned = engine.Counter("buckets_planned");
    EXPECT_GE(negotiated, 3);
    const auto sent = engine.Counter("control_messages_sent");
    const auto received = engine.Counter("control_messages_received");
    for (int i = 0; i < 100; ++i) step();
    EXPECT_EQ(engine.Counter("control_messages_sent"), sent);
    EXPECT_EQ(engine.Counter("control_messages_received"), received);
    EXPECT_EQ(engine.Counter("buckets_negotiated"), negotiated);
    EXPECT_GE(engine.Counter("buckets_planned"), planned + 100);
    // Nobody shuts down, which takes messages, before all have counted.
    step();
  });
}

TEST(EngineTest, AveragesAndFactorsAreAppliedOnce) {
  EngineWorld world(2);
  world.Run([](Engine& engine) {
    std::vector<float> x{static_cast<float>(engine.rank() + 1)};
    Submission s = Allreduce("x", x, ReduceOp::kAverage);
    s.request.prescale = 2;
    s.request.postscale = 10;
    ASSERT_TRUE(SubmitAndWait(engine, s).ok());
    EXPECT_THAT(x, ElementsAre(30.0f));

    std::vector<std::int32_t> ints{engine.rank() == 0 ? 3 : 5};
    Submission i;
    i.request.name = "ints";
    i.request.type = ElementType::kInt32;
    i.request.shape = {1};
    i.request.prescale = 0.5;
    i.input = i.output = ints.data();
    ASSERT_TRUE(SubmitAndWait(engine, i).ok());
    EXPECT_THAT(ints, ElementsAre(3));
  });
}

TEST(EngineTest, MismatchFailsThatTensorOnAllRanksAndTheEngineGoesOn) {
  EngineWorld world(3);
  world.Run([](Engine& engine) {
    std::vector<float> x(engine.rank() == 1 ? 4 : 5, 1.0f);
    const Status status = SubmitAndWait(engine, Allreduce("x", x));
    EXPECT_EQ(status.code(), StatusCode::kPrecondition);
    EXPECT_THAT(status.message(), HasSubstr("Mismatched ALLREDUCE tensor shapes"));
    std::vector<float> y(5, 1.0f);
    EXPECT_TRUE(SubmitAndWait(engine, Allreduce("x", y)).ok());
    EXPECT_THAT(y, Each(3.0f));
  });
}

TEST(EngineTest, AnOutstandingNameCannotBeUsedTwice) {
  EngineWorld world(1);
  world.Run([](Engine& engine) {
    std::vector<float> x(1), y(1);
    // Both in one group: the second finds the first outstanding.
    std::vector<Submission> both{Allreduce("x", x), Allreduce("x", y)};
    auto refused = engine.SubmitGroup(both);
    EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(refused.status().message(),
                HasSubstr("same name as another tensor that is currently being processed"));
    EXPECT_TRUE(SubmitAndWait(engine, Allreduce("x", x)).ok());  // none of the group was taken
  });
}

TEST(EngineTest, CallbackRunsOnceAndMaySubmitTheSameNameAgain) {
  EngineWorld world(2);
  world.Run([](Engine& engine) {
    std::vector<float> x(8, 1.0f);
    std::atomic<int> calls{0};
    std::atomic<bool> second_done{false};
    Submission first = Allreduce("x", x);
    first.done = [&](const Status& status) {
      EXPECT_TRUE(status.ok());
      ++calls;
      Submission second = Allreduce("x", x);
      second.done = [&](const Status&) { second_done = true; };
      EXPECT_TRUE(engine.Submit(second).ok());
    };
    auto operation = engine.Submit(first);
    ASSERT_TRUE(operation.ok());
    const auto deadline = Deadline::After(Seconds(60));
    while (!second_done && !deadline.Passed()) std::this_thread::yield();
    EXPECT_TRUE(second_done);
    EXPECT_EQ(calls, 1);
    EXPECT_THAT(x, Each(4.0f));
  });
}

TEST(EngineTest, JoinGivesZerosAndTellsWhoWasLast) {
  EngineWorld world(3);
  std::atomic<int> submitted{0};
  world.Run([&](Engine& engine) {
    // Rank r has r + 1 batches.
    for (int batch = 0; batch <= engine.rank(); ++batch) {
      std::vector<float> x(4, 1.0f);
      ASSERT_TRUE(SubmitAndWait(engine, Allreduce("x", x)).ok());
      EXPECT_THAT(x, Each(static_cast<float>(3 - batch)));
    }
    Submission join;
    join.request.kind = Kind::kJoin;
    join.request.name = "join.noname";
    auto operation = engine.Submit(join);
    ASSERT_TRUE(operation.ok());
    ASSERT_TRUE(engine.Wait(*operation, Deadline::After(Seconds(60))));
    EXPECT_TRUE((*operation)->status.ok());
    EXPECT_EQ((*operation)->last_joined, 2);
  });
}

TEST(EngineTest, ShutdownByOneEndsAllWithAnError) {
  EngineWorld world(3);
  world.Run([](Engine& engine) {
    std::vector<float> x(4, 1.0f);
    ASSERT_TRUE(SubmitAndWait(engine, Allreduce("warm", x)).ok());
    if (engine.rank() == 1) return;  // its Run ends with Shutdown
    const Status status = SubmitAndWait(engine, Allreduce("never", x));
    EXPECT_EQ(status.code(), StatusCode::kUnknown);
    EXPECT_THAT(status.message(), HasSubstr("Horovod has been shut down"));
    const auto deadline = Deadline::After(Seconds(60));
    while (!engine.stopped() && !deadline.Passed()) std::this_thread::yield();
    EXPECT_THAT(SubmitAndWait(engine, Allreduce("later", x)).message(),
                HasSubstr("Horovod has been shut down"));
  });
}

TEST(EngineTest, WhateverIsSubmittedWhileTheEngineEndsFinishesToo) {
  for (int round = 0; round < 20; ++round) {
    const bool by_death = round % 2 == 1;
    EngineOptions options;
    options.shutdown_limit = Seconds(0.2);
    EngineWorld world(2, options);
    world.Run([&](Engine& engine) {
      if (by_death && engine.rank() == 1) return world.world().Kill(1);
      std::vector<std::vector<float>> tensors;
      std::vector<OperationPtr> operations;
      std::thread submitter([&] {
        for (int i = 0; i < 100'000; ++i) {
          tensors.emplace_back(2, 1.0f);
          // Names that the other rank never uses: they can end with the engine only.
          const std::string name = std::to_string(engine.rank()) + "." + std::to_string(i);
          auto operation = engine.Submit(Allreduce(name, tensors.back()));
          if (!operation.ok()) return;
          operations.push_back(*operation);
        }
      });
      if (!by_death && engine.rank() == 0) engine.Shutdown();
      submitter.join();
      for (const auto& operation : operations) {
        ASSERT_TRUE(engine.Wait(operation, Deadline::After(Seconds(60))));
        EXPECT_THAT(operation->status.message(), HasSubstr("Horovod has been shut down"));
      }
    });
  }
}

TEST(EngineTest, KilledRankIsNamedToAllSurvivors) {
  EngineOptions options;
  options.shutdown_limit = Seconds(0.5);  // the dead rank's own engine gets no answer
  EngineWorld world(topology::HostMap::Grid(2, 2), options);
  std::atomic<int> warm{0};
  world.Run([&](Engine& engine) {
    std::vector<float> x(4, 1.0f);
    ASSERT_TRUE(SubmitAndWait(engine, Allreduce("warm", x)).ok());
    ++warm;
    if (engine.rank() == 3) {
      const auto deadline = Deadline::After(Seconds(60));
      while (warm < 4 && !deadline.Passed()) std::this_thread::yield();
      world.world().Kill(3);
      return;
    }
    const Status status = SubmitAndWait(engine, Allreduce("never", x));
    EXPECT_EQ(status.code(), StatusCode::kUnknown);
    EXPECT_THAT(status.message(), HasSubstr("rank 3"));
  });
}

TEST(EngineTest, ProcessSetsWorkSideBySide) {
  EngineOptions options;
  options.process_sets = {{0, 2}, {1, 3}};
  options.dynamic_process_sets = true;
  EngineWorld world(4, options);
  world.Run([](Engine& engine) {
    const int set = engine.rank() % 2 + 1;
    for (int step = 0; step < 30; ++step) {
      std::vector<float> x(10, static_cast<float>(engine.rank()));
      Submission s = Allreduce("x", x);
      s.set = set;
      ASSERT_TRUE(SubmitAndWait(engine, s).ok());
      EXPECT_THAT(x, Each(engine.rank() % 2 == 0 ? 2.0f : 4.0f));
    }
    std::vector<float> x(1);
    Submission foreign = Allreduce("x", x);
    foreign.set = 3 - set;
    EXPECT_THAT(SubmitAndWait(engine, foreign).message(), HasSubstr("is not a member"));
    foreign.set = 9;
    EXPECT_THAT(SubmitAndWait(engine, foreign).message(), HasSubstr("does not exist"));

    std::string why;
    const int added = engine.AddProcessSet({2, 1, 0}, why);
    ASSERT_EQ(added, 3) << why;
    EXPECT_EQ(engine.process_sets().SizeOf(3), 3);
    if (engine.rank() < 3) {
      std::vector<float> y(5, 1.0f);
      Submission in_new = Allreduce("y", y);
      in_new.set = added;
      ASSERT_TRUE(SubmitAndWait(engine, in_new).ok());
      EXPECT_THAT(y, Each(3.0f));
    }
    EXPECT_EQ(engine.AddProcessSet({0, 1, 2}, why), ProcessSets::kExistingSet);
    ASSERT_EQ(engine.RemoveProcessSet(added, why), added) << why;
    EXPECT_EQ(engine.process_sets().SizeOf(3), ProcessSets::kUnknownSet);
  });
}

TEST(EngineTest, DifferentStaticSetsAreRefusedOnAllRanks) {
  transport::loopback::World world(topology::HostMap::OneHost(2));
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 2; ++rank) {
    ranks.emplace_back([&, rank] {
      EngineOptions options;
      options.process_sets = {{rank}};
      auto engine = Engine::Start(world.Join(rank), options);
      EXPECT_FALSE(engine.ok());
      EXPECT_THAT(engine.status().message(), HasSubstr("mismatching values"));
    });
  }
  for (auto& rank : ranks) rank.join();
}

}  // namespace
}  // namespace horovodx::runtime

// Every kind of collective through whole engines: on one host and on several, negotiated and
// planned.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "horovodx/runtime/engine.h"
#include "tests/horovodx/collectives/large_support.h"
#include "tests/support/engine_world.h"

namespace horovodx::runtime {
namespace {

using negotiation::Kind;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::Allreduce;
using testing_support::EngineWorld;

// Enough for a plan to be made and followed.
constexpr int kSteps = 12;

Submission Of(Kind kind, const std::string& name, const std::vector<std::int32_t>& input,
              std::vector<std::int64_t> shape) {
  Submission s;
  s.request.kind = kind;
  s.request.name = name;
  s.request.type = ElementType::kInt32;
  s.request.shape = std::move(shape);
  s.input = input.data();
  return s;
}

OperationPtr Finish(Engine& engine, Submission submission) {
  auto operation = engine.Submit(std::move(submission));
  EXPECT_TRUE(operation.ok()) << operation.status().ToString();
  if (!operation.ok()) return nullptr;
  EXPECT_TRUE(engine.Wait(*operation, Deadline::After(Seconds(60))));
  EXPECT_TRUE((*operation)->status.ok()) << (*operation)->status.ToString();
  return *operation;
}

std::vector<std::int32_t> Kept(const Operation& operation) {
  std::size_t count = 1;
  for (auto dimension : operation.output_shape) count *= static_cast<std::size_t>(dimension);
  const auto* data = reinterpret_cast<const std::int32_t*>(operation.kept.get());
  return {data, data + count};
}

// As testing::Each, fast enough for millions.
bool All(const std::vector<float>& x, float value) {
  return std::all_of(x.begin(), x.end(), [value](float v) { return v == value; });
}

class EngineCollectives : public testing::TestWithParam<topology::HostMap> {};
INSTANTIATE_TEST_SUITE_P(Hosts, EngineCollectives,
                         testing::Values(topology::HostMap::OneHost(1),
                                         topology::HostMap::OneHost(3),
                                         topology::HostMap::Grid(2, 2),
                                         topology::HostMap({"a", "b", "a"}),
                                         topology::HostMap::Grid(3, 1)));

TEST_P(EngineCollectives, AllreduceOfAllSizesAndOps) {
  EngineWorld world(GetParam(), {});
  world.Run([&](Engine& engine) {
    const int n = world.size();
    for (int step = 0; step < kSteps; ++step) {
      for (std::size_t count : {0UL, 1UL, 5UL, 4096UL, 1'500'001UL}) {
        if (count > 100'000 && step > 2) continue;
        std::vector<float> x(count, static_cast<float>(engine.rank() + 1));
        Submission s = Allreduce("sum" + std::to_string(count), x);
        Finish(engine, s);
        ASSERT_TRUE(All(x, static_cast<float>(n * (n + 1) / 2)));
      }
      std::vector<float> most(7, static_cast<float>(engine.rank()));
      Finish(engine, Allreduce("max", most, ReduceOp::kMax));
      ASSERT_THAT(most, Each(static_cast<float>(n - 1)));
      std::vector<float> least(7, static_cast<float>(engine.rank() + 3));
      Finish(engine, Allreduce("min", least, ReduceOp::kMin));
      ASSERT_THAT(least, Each(3.0f));
      std::vector<float> product(7, 2.0f);
      Finish(engine, Allreduce("product", product, ReduceOp::kProduct));
      ASSERT_THAT(product, Each(static_cast<float>(1 << n)));
      std::vector<float> mean(7, static_cast<float>(engine.rank()));
      Finish(engine, Allreduce("mean", mean, ReduceOp::kAverage));
      ASSERT_THAT(mean, Each(static_cast<float>(n - 1) / 2.0f));
    }
  });
}

TEST_P(EngineCollectives, OutOfPlaceLeavesTheInput) {
  EngineWorld world(GetParam(), {});
  world.Run([&](Engine& engine) {
    for (std::size_t count : {3UL, 2'000'000UL}) {
      std::vector<float> in(count, 1.0f);
      std::vector<float> out(count, -1.0f);
      Submission s = Allreduce("x" + std::to_string(count), in);
      s.output = out.data();
      Finish(engine, s);
      ASSERT_TRUE(All(in, 1.0f));
      ASSERT_TRUE(All(out, static_cast<float>(world.size())));
    }
  });
}

// Rank r has r rows of two; three such tensors in flight may travel together.
void GatherUnevenRows(EngineWorld& world) {
  world.Run([&](Engine& engine) {
    std::vector<std::int32_t> expected;
    for (int rank = 0; rank < world.size(); ++rank) expected.insert(expected.end(), rank * 2, rank);
    for (int step = 0; step < kSteps; ++step) {
      const std::vector<std::int32_t> mine(engine.rank() * 2, engine.rank());
      std::vector<OperationPtr> operations;
      for (int i = 0; i < 3; ++i) {
        operations.push_back(*engine.Submit(
            Of(Kind::kAllgather, "g" + std::to_string(i), mine, {engine.rank(), 2})));
      }
      for (const auto& operation : operations) {
        ASSERT_TRUE(engine.Wait(operation, Deadline::After(Seconds(60))));
        ASSERT_TRUE(operation->status.ok()) << operation->status.ToString();
        ASSERT_EQ(Kept(*operation), expected);
      }
    }
  });
}

TEST_P(EngineCollectives, AllgatherOfUnevenRows) {
  EngineWorld world(GetParam(), {});
  GatherUnevenRows(world);
}

TEST_P(EngineCollectives, HierarchicalAllgatherOfUnevenRows) {
  EngineOptions options;
  options.hierarchical_allgather = true;
  EngineWorld world(GetParam(), options);
  GatherUnevenRows(world);
}

TEST_P(EngineCollectives, BroadcastFromEveryRoot) {
  EngineWorld world(GetParam(), {});
  world.Run([&](Engine& engine) {
    for (int root = 0; root < world.size(); ++root) {
      for (std::size_t count : {0UL, 3UL, 100'000UL}) {
        std::vector<std::int32_t> x(count, engine.rank() == root ? 42 + root : -1);
        Submission s = Of(Kind::kBroadcast, "b" + std::to_string(count), x,
                          {static_cast<std::int64_t>(count)});
        s.request.root = root;
        s.output = x.data();
        Finish(engine, s);
        ASSERT_THAT(x, Each(42 + root));
      }
    }
  });
}

TEST_P(EngineCollectives, AlltoallWithAndWithoutSplits) {
  EngineWorld world(GetParam(), {});
  world.Run([&](Engine& engine) {
    const int n = world.size();
    for (int step = 0; step < kSteps; ++step) {
      // Rank r sends d+1 rows to rank d; one row more stays unsent.
      std::vector<std::int32_t> in(n * (n + 1) / 2 + 1, engine.rank());
      Submission s = Of(Kind::kAlltoall, "uneven", in, {static_cast<std::int64_t>(in.size())});
      for (int d = 0; d < n; ++d) s.splits.push_back(d + 1);
      const auto uneven = Finish(engine, s);
      std::vector<std::int32_t> expected;
      for (int r = 0; r < n; ++r) expected.insert(expected.end(), engine.rank() + 1, r);
      ASSERT_EQ(Kept(*uneven), expected);
      ASSERT_THAT(uneven->received_splits, Each(engine.rank() + 1));

      const std::vector<std::int32_t> even(n * 2, engine.rank());
      const auto equal = Finish(engine, Of(Kind::kAlltoall, "even", even, {n, 2}));
      expected.clear();
      for (int r = 0; r < n; ++r) expected.insert(expected.end(), 2, r);
      ASSERT_EQ(Kept(*equal), expected);
    }
  });
}

TEST_P(EngineCollectives, ReducescatterDealsOutRows) {
  EngineWorld world(GetParam(), {});
  world.Run([&](Engine& engine) {
    const int n = world.size();
    const int me = engine.rank();
    constexpr int kRows = 5;
    const int rows = kRows / n + (me < kRows % n ? 1 : 0);
    int first = 0;
    for (int r = 0; r < me; ++r) first += kRows / n + (r < kRows % n ? 1 : 0);
    for (int step = 0; step < kSteps; ++step) {
      std::vector<std::int32_t> in(kRows * 2);
      std::iota(in.begin(), in.end(), 0);
      std::vector<std::int32_t> out(rows * 2, -1);
      Submission s = Of(Kind::kReducescatter, "rs", in, {kRows, 2});
      s.output = out.data();
      Finish(engine, s);
      for (int i = 0; i < rows * 2; ++i) ASSERT_EQ(out[i], n * (first * 2 + i));
    }
  });
}

TEST_P(EngineCollectives, BarrierAndGroups) {
  EngineWorld world(GetParam(), {});
  world.Run([&](Engine& engine) {
    for (int step = 0; step < kSteps; ++step) {
      Submission barrier;
      barrier.request.kind = Kind::kBarrier;
      barrier.request.name = "barrier.noname";
      Finish(engine, barrier);
      std::vector<std::vector<float>> tensors(4, std::vector<float>(10, 1.0f));
      std::vector<Submission> group;
      for (int i = 0; i < 4; ++i) {
        group.push_back(Allreduce("group_" + std::to_string(i), tensors[i]));
      }
      auto operations = engine.SubmitGroup(std::move(group));
      ASSERT_TRUE(operations.ok());
      for (const auto& operation : *operations) {
        ASSERT_TRUE(engine.Wait(operation, Deadline::After(Seconds(60))));
        ASSERT_TRUE(operation->status.ok());
      }
      for (const auto& tensor : tensors) {
        ASSERT_THAT(tensor, Each(static_cast<float>(world.size())));
      }
    }
  });
}

TEST_P(EngineCollectives, ABarrierBetweenStepsEndsNoPlan) {
  EngineOptions options;
  options.schedule = "fusion";  // nor does what is measured
  options.measured_selection = false;
  EngineWorld world(GetParam(), options);
  world.Run([&](Engine& engine) {
    for (int step = 0; step < 4 * kSteps; ++step) {
      if (step == 4 * kSteps - 1) {  // whoever is through with the last one may end the job
        EXPECT_EQ(engine.Counter("plans_started"), 1);
        EXPECT_EQ(engine.Counter("plans_left"), 0);
      }
      std::vector<float> tensor(10, 1.0f);
      Finish(engine, Allreduce("gradient", tensor));
      ASSERT_THAT(tensor, Each(static_cast<float>(world.size())));
      Submission barrier;
      barrier.request.kind = Kind::kBarrier;
      barrier.request.name = "barrier.noname";
      Finish(engine, barrier);
    }
  });
}

TEST(EngineLargeTest, ATensorOfMoreThanTwoGibibytes) {
  if (!testing_support::kRoomForLarge) GTEST_SKIP() << "only where it is fast";
  EngineWorld world(2);
  world.Run([](Engine& engine) {
    const testing_support::LargeCounts x(engine.rank() + 1);
    ASSERT_TRUE(x.ok());
    Submission s;
    s.request.name = "large";
    s.request.type = ElementType::kUint8;
    s.request.shape = {static_cast<std::int64_t>(x.count())};
    s.input = s.output = x.data();
    Finish(engine, std::move(s));
    EXPECT_TRUE(x.Hold(3));
  });
}

TEST(EngineAdasumTest, GivesTheWorkedValuesTensorByTensor) {
  EngineWorld world(2);
  world.Run([](Engine& engine) {
    for (int step = 0; step < kSteps; ++step) {
      std::vector<float> a =
          engine.rank() == 0 ? std::vector<float>{1, 1} : std::vector<float>{1, 0};
      std::vector<float> b =
          engine.rank() == 0 ? std::vector<float>{3, 4} : std::vector<float>{0, 0};
      Submission first = Allreduce("a", a, ReduceOp::kAdasum);
      Submission second = Allreduce("b", b, ReduceOp::kAdasum);
      first.request.kind = second.request.kind = Kind::kAdasum;
      auto operation = engine.Submit(first);
      Finish(engine, second);
      ASSERT_TRUE(engine.Wait(*operation, Deadline::After(Seconds(60))));
      ASSERT_THAT(a, ElementsAre(1.25f, 0.75f));
      ASSERT_THAT(b, ElementsAre(3.0f, 4.0f));
    }
  });
}

TEST(EngineAllocateTest, AFailingAllocatorFailsItsOwnRankOnly) {
  EngineWorld world(2);
  world.Run([](Engine& engine) {
    const std::vector<std::int32_t> mine(3, engine.rank());
    Submission s = Of(Kind::kAllgather, "g", mine, {3});
    if (engine.rank() == 1) {
      s.allocate = [](const std::vector<std::int64_t>&) -> void* { return nullptr; };
    }
    auto operation = engine.Submit(std::move(s));
    ASSERT_TRUE(operation.ok());
    ASSERT_TRUE(engine.Wait(*operation, Deadline::After(Seconds(60))));
    if (engine.rank() == 0) {
      EXPECT_THAT(Kept(**operation), ElementsAre(0, 0, 0, 1, 1, 1));
    } else {
      EXPECT_THAT((*operation)->status.message(), HasSubstr("no memory for the 24 bytes of 'g'"));
    }
    std::vector<float> x(3, 1.0f);
    Finish(engine, Allreduce("x", x));  // and the engine goes on
  });
}

}  // namespace
}  // namespace horovodx::runtime

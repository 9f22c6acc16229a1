#include "horovodx/collectives/allreduce_adasum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "horovodx/collectives/adasum_rule.h"
#include "tests/horovodx/collectives/allreduce_suite.h"
#include "tests/support/in_process_world.h"

namespace horovodx::collectives {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_suite::Split;
using testing_suite::SplitBuffer;
using testing_support::InProcessWorld;

using Vector = std::vector<double>;

Vector Random(int rank, std::size_t count) {
  std::mt19937_64 random(static_cast<std::uint64_t>(rank) + 5);
  std::uniform_real_distribution<double> value(-1, 1);
  Vector x(count);
  for (double& v : x) v = value(random);
  return x;
}

// The definition: a balanced tree over ranks [first, first + count), tensor by tensor.
Vector Reference(int first, int count, const std::vector<std::size_t>& tensors, std::size_t all) {
  if (count == 1) return Random(first, all);
  Vector a = Reference(first, count / 2, tensors, all);
  const Vector b = Reference(first + count / 2, count / 2, tensors, all);
  std::size_t at = 0;
  for (std::size_t n : tensors) {
    AdasumSums sums;
    AddAdasumSums(ElementType::kFloat64, a.data() + at, b.data() + at, n, sums);
    CombineAdasum(ElementType::kFloat64, AdasumFactorsOf(sums), a.data() + at, b.data() + at,
                  a.data() + at, n);
    at += n;
  }
  return a;
}

TEST(AllreduceAdasumTest, TwoRanksAreThePairwiseRule) {
  InProcessWorld world(2);
  world.Run([](Team& team) {
    std::vector<float> x =
        team.rank() == 0 ? std::vector<float>{1, 1, 3, 4} : std::vector<float>{1, 0, 0, 0};
    const std::size_t tensors[] = {2, 2};
    ASSERT_TRUE(AllreduceAdasum(team, x, tensors).ok());
    EXPECT_THAT(x, ElementsAre(1.25f, 0.75f, 3.0f, 4.0f));
  });
}

TEST(AllreduceAdasumTest, EqualsTheTreeForEveryTypeAndSplit) {
  const struct {
    ElementType type;
    double tolerance;
  } kTypes[] = {{ElementType::kFloat64, 1e-12},
                {ElementType::kFloat32, 1e-5},
                {ElementType::kFloat16, 1e-2},
                {ElementType::kBfloat16, 8e-2}};
  const std::vector<std::vector<std::size_t>> kTensors = {
      {}, {0}, {1}, {3}, {2, 0, 5}, {1, 1, 1, 1}, {1000, 7, 300}};
  for (int ranks : {1, 2, 4, 8, 16}) {
    InProcessWorld world(ranks);
    world.Run([&](Team& team) {
      for (const auto& tensors : kTensors) {
        std::size_t count = 0;
        for (std::size_t n : tensors) count += n;
        const Vector expected = Reference(0, team.size(), tensors, count);
        for (const auto& [type, tolerance] : kTypes) {
          for (Split split : {Split::kWhole, Split::kMany}) {
            SplitBuffer x(type, Random(team.rank(), count), split);
            ASSERT_TRUE(AllreduceAdasum(team, x.buffer(), tensors).ok());
            const Vector got = x.values();
            for (std::size_t i = 0; i < count; ++i) {
              ASSERT_NEAR(got[i], expected[i], tolerance)
                  << NameOf(type) << " " << i << " of " << count << ", " << ranks << " ranks";
            }
            EXPECT_TRUE(x.guards_intact());
          }
        }
      }
    });
  }
}

TEST(AllreduceAdasumTest, AllRanksHoldTheSameBits) {
  InProcessWorld world(8);
  std::vector<std::vector<std::byte>> results(8);
  world.Run([&](Team& team) {
    SplitBuffer x(ElementType::kFloat32, Random(team.rank(), 5000), Split::kTwo);
    const std::size_t tensors[] = {1234, 3766};
    ASSERT_TRUE(AllreduceAdasum(team, x.buffer(), tensors).ok());
    results[static_cast<std::size_t>(team.rank())] = x.bytes();
  });
  for (const auto& result : results) EXPECT_EQ(result, results[0]);
}

TEST(AllreduceAdasumTest, WhatItCannotDoIsAnErrorOnEveryRank) {
  InProcessWorld world(3);
  world.Run([](Team& team) {
    std::vector<float> x(4);
    const std::size_t tensors[] = {4};
    EXPECT_THAT(AllreduceAdasum(team, x, tensors).message(),
                HasSubstr("power of two of ranks, not 3"));
    Team pair = team.Sub(team.rank() == 2 ? std::vector<int>{2} : std::vector<int>{0, 1});
    std::vector<int> integers(4);
    EXPECT_THAT(AllreduceAdasum(pair, integers, tensors).message(), HasSubstr("not int32"));
    const std::size_t wrong[] = {4, 1};
    EXPECT_THAT(AllreduceAdasum(pair, x, wrong).message(),
                HasSubstr("5 elements in a buffer of 4"));
  });
}

TEST(AllreduceAdasumTest, SendsWhatTheFormulaSays) {
  for (int ranks : {1, 2, 4, 8, 16}) {
    InProcessWorld world(ranks);
    world.Run([](Team& team) {
      std::vector<float> x(1600, 1.0f);
      const std::size_t tensors[] = {600, 1000};
      ASSERT_TRUE(AllreduceAdasum(team, x, tensors).ok());
      const Cost cost = CostOfAdasum(team.size(), 6400, 2);
      EXPECT_EQ(team.traffic().messages, cost.messages);
      EXPECT_EQ(static_cast<double>(team.traffic().bytes), cost.bytes);
    });
  }
}

}  // namespace
}  // namespace horovodx::collectives

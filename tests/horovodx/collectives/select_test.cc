#include "horovodx/collectives/select.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "horovodx/collectives/allreduce_ring.h"
#include "horovodx/collectives/predict.h"
#include "tests/support/in_process_world.h"

namespace horovodx::collectives {
namespace {

using A = AllreduceAlgorithm;

SelectInput Input(std::size_t bytes, int hosts, int ranks_per_host) {
  SelectInput input;
  input.bytes = bytes;
  input.ranks = hosts * ranks_per_host;
  input.hosts = hosts;
  input.ranks_per_host = ranks_per_host;
  return input;
}

TEST(SelectTest, NamesFunctionsAndAlgorithmsBelongTogether) {
  std::set<std::string_view> names;
  std::set<AllreduceFunction> functions;
  for (A algorithm : AllAllreduceAlgorithms()) {
    EXPECT_EQ(AllreduceNamed(NameOf(algorithm)), algorithm);
    names.insert(NameOf(algorithm));
    functions.insert(FunctionOf(algorithm));
  }
  EXPECT_EQ(names.size(), 11u);
  EXPECT_EQ(functions.size(), 11u);
  EXPECT_EQ(AllreduceNamed("Ring"), std::nullopt);
}

TEST(SelectTest, EveryAlgorithmOfTheTableReduces) {
  testing_support::InProcessWorld world(topology::HostMap::Grid(2, 2));
  world.Run([](Team& team) {
    for (A algorithm : AllAllreduceAlgorithms()) {
      std::vector<int> x(9, team.rank());
      const Status status = FunctionOf(algorithm)(team, x, ReduceOp::kSum);
      if (algorithm == A::kMpi) {  // here are none of its links: an error, and nothing else instead
        EXPECT_EQ(status.code(), StatusCode::kPrecondition);
        continue;
      }
      ASSERT_TRUE(status.ok());
      EXPECT_EQ(x, std::vector<int>(9, 6)) << NameOf(algorithm);
    }
  });
}

TEST(SelectTest, RulesBySizeAndTopology) {
  const struct {
    SelectInput input;
    A expected;
  } kTable[] = {
      {Input(0, 1, 1), A::kRecursiveDoubling},
      {Input(100, 4, 1), A::kRecursiveDoubling},
      {Input(8 << 10, 4, 1), A::kRecursiveHalvingDoubling},
      {Input(512 << 10, 4, 1), A::kRing},
      {Input(512 << 10, 1, 4), A::kRing},
      {Input(100, 2, 2), A::kHierarchical},
      {Input(100, 1, 4), A::kRecursiveDoubling},
      {Input(8 << 10, 2, 2), A::kRecursiveHalvingDoubling},
      {Input(100, 8, 4), A::kHierarchical},
      {Input(64 << 20, 2, 4), A::kHierarchicalSlices},
  };
  for (const auto& [input, expected] : kTable) {
    EXPECT_EQ(NameOf(SelectAllreduce(input)), NameOf(expected))
        << input.bytes << " bytes, " << input.hosts << " hosts of " << input.ranks_per_host;
  }
}

TEST(SelectTest, UnevenHostsCountAsSeveralRanksAHost) {
  SelectInput input = Input(64 << 20, 2, 1);
  input.ranks = 5;
  input.ranks_per_host = 0;
  EXPECT_EQ(SelectAllreduce(input), A::kHierarchicalSlices);
}

TEST(SelectTest, FlagsAskForHierarchicalOrTorus) {
  SelectInput input = Input(100, 2, 4);
  input.hierarchical = true;
  EXPECT_EQ(SelectAllreduce(input), A::kHierarchical);
  input.bytes = 64 << 20;
  EXPECT_EQ(SelectAllreduce(input), A::kHierarchicalSlices);
  input.torus = true;
  EXPECT_EQ(SelectAllreduce(input), A::kTorus);
  SelectInput one_a_host = Input(64 << 20, 4, 1);
  one_a_host.hierarchical = true;
  EXPECT_EQ(SelectAllreduce(one_a_host), A::kRing);
}

bool Chooses(const SelectInput& input, A algorithm) {
  const auto some = EligibleAllreduces(input);
  return std::find(some.begin(), some.end(), algorithm) != some.end();
}

TEST(SelectTest, AFlagThatSaysNoExcludesItsAlgorithms) {
  for (std::size_t bytes : {100UL, 64UL << 20}) {
    SelectInput input = Input(bytes, 8, 4);
    EXPECT_TRUE(Chooses(input, A::kHierarchical));
    EXPECT_TRUE(Chooses(input, A::kHierarchicalSlices));
    input.hierarchical = false;
    EXPECT_FALSE(Chooses(input, A::kHierarchical));
    EXPECT_FALSE(Chooses(input, A::kHierarchicalSlices));
    EXPECT_EQ(SelectAllreduce(input), bytes == 100 ? A::kRecursiveDoubling : A::kRing)
        << "by the rules too";
  }
  SelectInput flat = Input(64 << 20, 6, 1);
  EXPECT_TRUE(Chooses(flat, A::kTorus));
  flat.torus = false;
  EXPECT_FALSE(Chooses(flat, A::kTorus));
  // Whatever is said by name goes before.
  const AllreduceRule rules[] = {{A::kTorus}};
  flat.overrides = rules;
  EXPECT_EQ(SelectAllreduce(flat), A::kTorus);
}

TEST(SelectTest, RulesOfTheUserCountUnlessResultsMustBeDeterministic) {
  AllreduceWishes wishes;
  wishes.allreduce = {{A::kTree, 0, 1000}, {A::kMasterWorker, 500, 2000}};
  ASSERT_NE(RuleFor(wishes, 999), nullptr);
  EXPECT_EQ(RuleFor(wishes, 999)->algorithm, A::kTree);
  EXPECT_EQ(RuleFor(wishes, 1000)->algorithm, A::kMasterWorker);
  EXPECT_EQ(RuleFor(wishes, 2000), nullptr);
  wishes.deterministic = true;
  EXPECT_EQ(RuleFor(wishes, 999), nullptr);
}

TEST(SelectTest, FirstMatchingOverrideWinsOverRulesAndFlags) {
  const AllreduceRule rules[] = {{A::kTree, 0, 1000}, {A::kMasterWorker, 500, 2000}};
  SelectInput input = Input(999, 2, 4);
  input.torus = true;
  input.overrides = rules;
  EXPECT_EQ(SelectAllreduce(input), A::kTree);
  input.bytes = 1000;
  EXPECT_EQ(SelectAllreduce(input), A::kMasterWorker);
  input.bytes = 2000;
  EXPECT_EQ(SelectAllreduce(input), A::kTorus);
}

AllreduceCosts Links(LinkCost host, LinkCost net) {
  AllreduceCosts costs;
  costs.levels = {host, net};
  return costs;
}

TEST(SelectTest, WithCostsTheLeastPredictedTimeWins) {
  // Messages are dear: few steps. Bytes are dear: few bytes.
  const AllreduceCosts slow_start = Links({1e-6, 1e-10}, {1.0, 1e-10});
  const AllreduceCosts slow_bytes = Links({1e-6, 1e-10}, {1e-9, 1e-3});
  SelectInput input = Input(1 << 20, 16, 1);
  input.costs = &slow_start;
  EXPECT_EQ(SelectAllreduce(input), A::kRecursiveDoubling);
  EXPECT_EQ(SelectAllreduceAndSay(input).why, Why::kPredicted);
  input.costs = &slow_bytes;
  const Selected chosen = SelectAllreduceAndSay(input);
  EXPECT_EQ(chosen.algorithm, A::kRing);
  EXPECT_DOUBLE_EQ(chosen.seconds, PredictAllreduce(A::kRing, input, slow_bytes).seconds);
  for (A other : EligibleAllreduces(input)) {
    EXPECT_LE(0.95 * chosen.seconds, PredictAllreduce(other, input, slow_bytes).seconds);
  }
}

TEST(SelectTest, WhatWasMeasuredCountsMoreThanWhatLinksSay) {
  AllreduceCosts costs = Links({1e-6, 1e-10}, {50e-6, 1e-9});
  SelectInput input = Input(8 << 20, 4, 1);
  input.costs = &costs;
  costs.corrections[static_cast<std::size_t>(A::kRing)] = {{8 << 20, 5.0}};
  costs.corrections[static_cast<std::size_t>(A::kTorus)] = {{8 << 20, 0.1}};
  EXPECT_EQ(SelectAllreduce(input), A::kTorus);
  EXPECT_EQ(SelectAllreduceAndSay(input).why, Why::kMeasured);
}

TEST(SelectTest, ASmallPromiseIsNotWorthAChange) {
  AllreduceCosts costs = Links({1e-6, 1e-10}, {50e-6, 1e-9});
  SelectInput input = Input(8 << 20, 5, 1);
  input.costs = &costs;
  for (A other : EligibleAllreduces(input)) {
    costs.corrections[static_cast<std::size_t>(other)] = {
        {8 << 20,
         (other == A::kTree ? 0.97 : 1.0) / PredictAllreduce(other, input, costs).seconds}};
  }
  EXPECT_EQ(SelectAllreduce(input), A::kRing);
}

TEST(SelectTest, WhatMeasurementsOfSmallOnesDifferByAnywayIsNotWorthAChange) {
  AllreduceCosts costs = Links({1e-6, 1e-10}, {50e-6, 1e-9});
  SelectInput input = Input(64, 4, 1);
  input.costs = &costs;
  for (const auto& [usual, other, chosen] :
       {std::tuple{30e-6, 15e-6, A::kRecursiveDoubling}, {90e-6, 60e-6, A::kAllToAll}}) {
    for (A algorithm : EligibleAllreduces(input)) {
      costs.corrections[static_cast<std::size_t>(algorithm)].clear();
      const double seconds = algorithm == A::kRecursiveDoubling ? usual
                             : algorithm == A::kAllToAll        ? other
                                                                : 1e-3;
      costs.corrections[static_cast<std::size_t>(algorithm)] = {
          {64, seconds / PredictAllreduce(algorithm, input, costs).seconds}};
    }
    EXPECT_EQ(SelectAllreduce(input), chosen);
  }
}

TEST(SelectTest, MpisOwnIsOneMoreWhereThereIsOne) {
  AllreduceCosts costs = Links({1e-6, 1e-10}, {50e-6, 1e-9});
  SelectInput input = Input(8 << 20, 4, 1);
  input.costs = &costs;
  const auto offered = [&] {
    const auto some = EligibleAllreduces(input);
    return std::count(some.begin(), some.end(), A::kMpi);
  };
  EXPECT_EQ(offered(), 0);
  costs.corrections[static_cast<std::size_t>(A::kMpi)] = {{8 << 20, 0.1}};
  EXPECT_NE(SelectAllreduce(input), A::kMpi);
  input.native = true;
  EXPECT_EQ(offered(), 1);
  EXPECT_EQ(SelectAllreduce(input), A::kMpi);
  EXPECT_EQ(SelectAllreduceAndSay(input).why, Why::kMeasured);
}

TEST(SelectTest, BeforeItRanMpisOwnPromisesLittleLessThanTheBest) {
  AllreduceCosts costs = Links({1e-6, 1e-10}, {50e-6, 1e-9});
  for (const auto& [hosts, local] : {std::pair(2, 1), std::pair(4, 1), std::pair(2, 2)}) {
    SelectInput input = Input(8 << 20, hosts, local);
    const auto seconds = [&](A a) { return PredictAllreduce(a, input, costs).seconds; };
    // Large: worth a trial. Small: the barrier alone takes as long as another's whole way.
    EXPECT_LT(seconds(A::kMpi), 1.25 * seconds(A::kRecursiveHalvingDoubling));
    EXPECT_GT(seconds(A::kMpi), seconds(A::kRecursiveHalvingDoubling));
    input.bytes = 64;
    EXPECT_GT(seconds(A::kMpi), 1.25 * seconds(A::kRecursiveDoubling));
  }
}

TEST(SelectTest, WhereMpiHasNoneARuleForItMeansTheRing) {
  const AllreduceRule rules[] = {{A::kMpi}};
  SelectInput input = Input(100, 4, 1);
  input.overrides = rules;
  EXPECT_EQ(SelectAllreduce(input), A::kRing);
  input.native = true;
  EXPECT_EQ(SelectAllreduce(input), A::kMpi);
  EXPECT_EQ(SelectAllreduceAndSay(input).why, Why::kOverride);
}

TEST(SelectTest, WishesWinOverMeasurements) {
  AllreduceCosts costs = Links({1e-6, 1e-10}, {50e-6, 1e-9});
  costs.corrections[static_cast<std::size_t>(A::kRing)] = {{1, 1e-9}};
  const AllreduceRule rules[] = {{A::kTree, 0, 1000}};
  SelectInput input = Input(999, 2, 4);
  input.costs = &costs;
  input.hierarchical = true;
  input.overrides = rules;
  EXPECT_EQ(SelectAllreduceAndSay(input).why, Why::kOverride);
  EXPECT_EQ(SelectAllreduce(input), A::kTree);
  input.bytes = 1000;
  EXPECT_EQ(SelectAllreduceAndSay(input).why, Why::kFlag);
  EXPECT_EQ(SelectAllreduce(input), A::kHierarchical);
  input.deterministic = true;
  EXPECT_EQ(SelectAllreduceAndSay(input).why, Why::kDeterministic);
}

TEST(SelectTest, ThereIsAlwaysAValidChoice) {
  const AllreduceCosts costs = Links({1e-6, 1e-10}, {50e-6, 1e-9});
  for (int hosts : {1, 2, 3, 5}) {
    for (int ranks = hosts; ranks <= 3 * hosts; ++ranks) {
      for (std::size_t bytes : {0UL, 1UL, 4096UL, 100'000'000UL}) {
        SelectInput input = Input(bytes, hosts, ranks % hosts == 0 ? ranks / hosts : 0);
        input.ranks = ranks;
        input.costs = &costs;
        EXPECT_FALSE(EligibleAllreduces(input).empty());
        EXPECT_FALSE(NameOf(SelectAllreduce(input)).empty());
      }
    }
  }
}

TEST(SelectTest, DeterministicNeverDependsOnWishesAndAlwaysSumsInRankOrder) {
  const AllreduceRule rules[] = {{A::kTree}};
  for (std::size_t bytes : {0UL, 100UL, 100'000UL, 100'000'000UL}) {
    SelectInput input = Input(bytes, 8, 4);
    input.deterministic = true;
    input.torus = true;
    input.overrides = rules;
    const A chosen = SelectAllreduce(input);
    EXPECT_TRUE(chosen == A::kAllToAll || chosen == A::kRoundRobin) << bytes;
  }
}

TEST(SelectTest, WhatIsChosenForLargeBuffersKeepsInputs) {
  EXPECT_TRUE(KeepsInputs(SelectAllreduce(Input(64 << 20, 4, 1))));
  EXPECT_TRUE(KeepsInputs(SelectAllreduce(Input(64 << 20, 4, 4))));
  EXPECT_FALSE(KeepsInputs(A::kTree));
}

TEST(SelectTest, CostsComeFromTheAlgorithms) {
  EXPECT_EQ(CostOfAllreduce(A::kRing, Input(1 << 20, 4, 1)).bytes, CostOfRing(4, 1 << 20).bytes);
  EXPECT_EQ(CostOfAllreduce(A::kTorus, Input(1200, 1, 12)).steps, 2u * 3u + 2u * 2u);
  EXPECT_EQ(CostOfAllreduce(A::kHierarchical, Input(8 << 10, 4, 8)).steps, 12u);
}

}  // namespace
}  // namespace horovodx::collectives

#include "horovodx/negotiation/algorithm_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace horovodx::negotiation {
namespace {

using A = collectives::AllreduceAlgorithm;
using collectives::LevelCosts;
using collectives::SelectInput;
using collectives::Until;

SelectInput On(int hosts, int local, std::size_t bytes = 0) {
  return {.bytes = bytes, .ranks = hosts * local, .hosts = hosts, .ranks_per_host = local};
}

// A network on which one algorithm takes `times` what its links say.
struct Network {
  SelectInput team;
  LevelCosts links{{5e-6, 1e-10}, {100e-6, 1e-8}};
  A odd = A::kMasterWorker;
  double times = 1.0;

  double Takes(A algorithm, std::uint64_t bytes) const {
    SelectInput input = team;
    input.bytes = bytes;
    return SecondsByLinks(algorithm, input, links, Until::kFirst) *
           (algorithm == odd ? times : 1.0);
  }
};

const transport::NativeKinds kMpiHas = {{ElementType::kFloat32, ReduceOp::kSum},
                                        {ElementType::kInt32, ReduceOp::kMax}};

Bucket BucketOf(std::uint64_t bytes) {
  Bucket bucket;
  bucket.entries.push_back({"t" + std::to_string(bytes), bytes / 4, {}, {}});
  return bucket;
}

TEST(AlgorithmChoiceTest, APlanThatMayNotTryKeepsToWhatIsChosenAndTriesLater) {
  Network net{On(4, 1)};
  AlgorithmChoice choice(net.team, true);
  for (const std::uint64_t bytes : {1u << 10, 1u << 17, 8u << 20}) {
    for (int i = 0; i < 4; ++i) choice.Add(A::kRing, bytes, net.Takes(A::kRing, bytes));
  }
  std::vector<Bucket> buckets = {BucketOf(8 << 20)};
  choice.ForPlan(buckets, false);
  EXPECT_EQ(buckets[0].algorithms.size(), 1u);
  EXPECT_EQ(choice.trial_rounds(), 0u);
  choice.ForPlan(buckets);
  EXPECT_GT(buckets[0].algorithms.size(), 1u) << "nothing was used up";
}

// Negotiated steps of one bucket; what ran.
std::vector<A> RunSteps(AlgorithmChoice& choice, const Network& net, std::uint64_t bytes,
                        int steps) {
  std::vector<A> ran;
  for (int i = 0; i < steps; ++i) {
    std::vector<Bucket> buckets = {BucketOf(bytes)};
    choice.ForRun(buckets);
    A algorithm = A::kRing;  // as the rules would say
    if (!buckets[0].algorithms.empty()) algorithm = static_cast<A>(buckets[0].algorithms.back());
    choice.Add(algorithm, bytes, net.Takes(algorithm, bytes));
    ran.push_back(algorithm);
  }
  return ran;
}

A Fastest(const Network& net, std::uint64_t bytes) {
  SelectInput input = net.team;
  input.bytes = bytes;
  A best = A::kRing;
  const auto whole = [&](A a) {
    return SecondsByLinks(a, input, net.links) * (a == net.odd ? net.times : 1.0);
  };
  for (A other : EligibleAllreduces(input)) {
    if (whole(other) < whole(best)) best = other;
  }
  return best;
}

TEST(AlgorithmChoiceTest, SettlesOnTheFastestAfterAFewTrials) {
  for (const std::uint64_t bytes : {1024u, 100u << 10, 16u << 20}) {
    for (A odd : {A::kRing, A::kRecursiveDoubling, A::kMasterWorker}) {
      const Network net{.team = On(6, 1), .odd = odd, .times = 4.0};
      AlgorithmChoice choice(net.team, true);
      const std::vector<A> ran = RunSteps(choice, net, bytes, 200);
      const std::vector<A> late(ran.end() - 50, ran.end());
      for (A algorithm : late) {
        const double time = net.Takes(algorithm, bytes);
        EXPECT_LE(time, 1.1 * net.Takes(Fastest(net, bytes), bytes))
            << NameOf(algorithm) << " of " << bytes << " bytes, " << NameOf(odd) << " being slow";
      }
      EXPECT_EQ(std::set<A>(late.begin(), late.end()).size(), 1u) << "still trying";
    }
  }
}

TEST(AlgorithmChoiceTest, TrialsAreFew) {
  const Network net{.team = On(4, 2)};
  AlgorithmChoice choice(net.team, true);
  std::map<A, int> count;
  for (A algorithm : RunSteps(choice, net, 1 << 20, 500)) ++count[algorithm];
  int settled = 0;
  for (const auto& [algorithm, n] : count) {
    settled += n > 100;
    EXPECT_TRUE(n <= 20 || n > 100) << NameOf(algorithm) << " " << n;
  }
  EXPECT_EQ(settled, 1);
}

// Links do not tell that all but one take half as long again: each is tried once, not three times.
TEST(AlgorithmChoiceTest, WhatIsSlowIsTriedOnceAlsoWhereEachIsNegotiated) {
  const Network net{.team = On(2, 2), .odd = A::kHierarchicalSlices, .times = 0.6};
  const std::uint64_t bytes = 16 << 20;
  AlgorithmChoice choice(net.team, true);
  for (int i = 0; i < 8; ++i) {
    choice.Add(A::kHierarchicalSlices, bytes, net.Takes(A::kHierarchicalSlices, bytes));
  }
  std::map<A, int> count;
  for (A algorithm : RunSteps(choice, net, bytes, 60)) ++count[algorithm];
  EXPECT_GT(count.size(), 1u) << "nothing was tried";
  for (const auto& [algorithm, n] : count) {
    if (algorithm == A::kHierarchicalSlices) continue;
    EXPECT_EQ(n, 1) << NameOf(algorithm);
  }
}

TEST(AlgorithmChoiceTest, APlanTriesInItsFirstRoundsOnlyAndOneBucketOfASize) {
  const Network net{.team = On(6, 1)};
  AlgorithmChoice choice(net.team, true);
  RunSteps(choice, net, 64 << 10, 4);
  std::vector<Bucket> buckets = {BucketOf(8 << 20), BucketOf(8 << 20), BucketOf(64 << 20)};
  choice.ForPlan(buckets);
  EXPECT_GT(choice.trial_rounds(), 0u);
  EXPECT_LE(choice.trial_rounds(), 24u);
  EXPECT_GT(buckets[0].algorithms.size(), 1u);
  EXPECT_EQ(std::max(buckets[0].algorithms.size(), buckets[2].algorithms.size()),
            choice.trial_rounds() + 1);
  EXPECT_EQ(buckets[1].algorithms.size(), 1u);
  EXPECT_EQ(buckets[1].algorithms.back(), buckets[0].algorithms.back());
}

TEST(AlgorithmChoiceTest, OnceIsEnoughForTheSlowerOnes) {
  // Links do not tell that all but the ring take four times as long.
  const Network net{.team = On(2, 2), .odd = A::kRing, .times = 0.25};
  const std::uint64_t bytes = 4 << 20;
  AlgorithmChoice choice(net.team, true);
  for (int i = 0; i < 4; ++i) choice.Add(A::kRing, bytes, net.Takes(A::kRing, bytes));
  std::vector<Bucket> first = {BucketOf(bytes)};
  choice.ForPlan(first);
  const auto& list = first[0].algorithms;
  EXPECT_GT(list.size(), 1u);
  for (std::uint64_t round = 0; round < list.size(); ++round) {
    const auto algorithm = static_cast<A>(list[round]);
    EXPECT_EQ(std::count(list.begin(), list.end() - 1, list[round]), round + 1 < list.size());
    choice.Add(algorithm, bytes, net.Takes(algorithm, bytes));
    choice.RoundEnded(round);
  }
  for (const std::uint64_t about : {bytes, bytes / 2 + 4, 4 * bytes}) {
    std::vector<Bucket> again = {BucketOf(about)};
    choice.ForPlan(again);
    EXPECT_EQ(choice.trial_rounds(), 0u) << about;
    EXPECT_EQ(again[0].algorithms.back(), static_cast<std::uint8_t>(A::kRing)) << about;
  }
}

// It looked fast when the plan was made, and is 4 % slower than another one.
TEST(AlgorithmChoiceTest, ALittleMakesAnotherPlanIfItPaysForIt) {
  for (const double scale : {1.0, 0.01}) {
    AlgorithmChoice choice(On(2, 2), true);
    const std::uint64_t bytes = 4 << 20;
    for (int i = 0; i < 3; ++i) {
      choice.Add(A::kHierarchicalSlices, bytes, scale * 36e-3);
      choice.Add(A::kRecursiveHalvingDoubling, bytes, scale * 30e-3);
    }
    std::vector<Bucket> plan = {BucketOf(bytes)};
    choice.ForPlan(plan, /*may_try=*/false);
    ASSERT_EQ(static_cast<A>(plan[0].algorithms.back()), A::kRecursiveHalvingDoubling);
    bool anew = false;
    for (std::uint64_t round = 0; round < 40 && !anew; ++round) {
      choice.Add(A::kRecursiveHalvingDoubling, bytes, scale * 37.5e-3);
      anew = choice.RoundEnded(round);
    }
    EXPECT_EQ(anew, scale == 1.0);
  }
}

// While links were being made, say.
TEST(AlgorithmChoiceTest, WhatTheRulesSayIsNotJudgedByASlowBeginning) {
  const std::uint64_t bytes = 4 << 20;
  const auto takes = [](A algorithm) {
    if (algorithm == A::kHierarchicalSlices) return 36e-3;
    return algorithm == A::kRecursiveHalvingDoubling ? 38e-3 : 60e-3;
  };
  AlgorithmChoice choice(On(2, 2), true);
  choice.Add(A::kHierarchicalSlices, bytes, 42e-3);
  for (int i = 0; i < 3; ++i) choice.Add(A::kRecursiveHalvingDoubling, bytes, 38e-3);
  std::vector<A> last;
  for (int plan = 0; plan < 3; ++plan) {
    std::vector<Bucket> planned = {BucketOf(bytes)};
    choice.ForPlan(planned);
    const auto& list = planned[0].algorithms;
    for (std::uint64_t round = 0; round < 40; ++round) {
      const auto algorithm = static_cast<A>(list[std::min<std::size_t>(round, list.size() - 1)]);
      choice.Add(algorithm, bytes, takes(algorithm));
      if (choice.RoundEnded(round)) break;
    }
    last.push_back(static_cast<A>(list.back()));
  }
  EXPECT_EQ(last.front(), A::kRecursiveHalvingDoubling);
  EXPECT_EQ(last.back(), A::kHierarchicalSlices);
}

TEST(AlgorithmChoiceTest, WhatTrialsShowMakesAnotherPlan) {
  // The rules say ring, and nothing says that it is three times as slow as its links.
  const Network net{.team = On(6, 1), .odd = A::kRing, .times = 3.0};
  AlgorithmChoice choice(net.team, true);
  const std::uint64_t bytes = 4 << 20;
  for (int i = 0; i < 4; ++i) choice.Add(A::kRing, bytes, net.Takes(A::kRing, bytes));
  int plans = 0;
  A last = A::kRing;
  for (std::uint64_t total = 0; total < 3000; ++plans) {
    std::vector<Bucket> buckets = {BucketOf(bytes)};
    choice.ForPlan(buckets);
    const auto& list = buckets[0].algorithms;
    last = static_cast<A>(list.back());
    bool anew = false;
    for (std::uint64_t round = 0; !anew && total < 3000; ++round, ++total) {
      const auto algorithm = static_cast<A>(list[std::min<std::uint64_t>(round, list.size() - 1)]);
      choice.Add(algorithm, bytes, net.Takes(algorithm, bytes));
      anew = choice.RoundEnded(round);
    }
  }
  EXPECT_NE(last, A::kRing);
  EXPECT_LE(net.Takes(last, bytes), 1.1 * net.Takes(Fastest(net, bytes), bytes)) << NameOf(last);
  EXPECT_LE(plans, 4) << "it does not settle";
}

// Fitting takes as long as a few small allreduces: who meets at a barrier every few steps must not
// pay for it after each.
TEST(AlgorithmChoiceTest, APlanThatEndsAndComesAgainIsLookedAtEverMoreRarely) {
  const Network net{.team = On(6, 1)};
  AlgorithmChoice choice(net.team, true);
  RunSteps(choice, net, 64 << 10, 100);
  const std::uint64_t before = choice.fits();
  for (int plan = 0; plan < 100; ++plan) {
    std::vector<Bucket> buckets = {BucketOf(64 << 10)};
    choice.ForPlan(buckets);
    ASSERT_EQ(choice.trial_rounds(), 0u);
    const auto algorithm = static_cast<A>(buckets[0].algorithms.back());
    for (std::uint64_t round = 0; round < 20; ++round) {
      choice.Add(algorithm, 64 << 10, net.Takes(algorithm, 64 << 10));
      EXPECT_FALSE(choice.RoundEnded(round));
    }
  }
  EXPECT_GE(choice.fits() - before, 5u);
  EXPECT_LE(choice.fits() - before, 20u);
}

TEST(AlgorithmChoiceTest, WhatRanWhileLinksWereMadeGetsAnotherChance) {
  const Network net{.team = On(4, 1)};
  AlgorithmChoice choice(net.team, true);
  const std::uint64_t bytes = 1024;
  const auto usual = static_cast<std::uint8_t>(A::kRecursiveDoubling);
  for (int i = 0; i < 10; ++i) choice.Add(A::kRecursiveDoubling, bytes, 900e-6);
  for (int i = 0; i < 10; ++i) choice.Add(A::kAllToAll, bytes, 120e-6);
  std::vector<int> chances;
  for (int plan = 0; plan < 5; ++plan) {  // all of which are ended by barriers, say
    std::vector<Bucket> buckets = {BucketOf(bytes)};
    choice.ForPlan(buckets);
    ASSERT_EQ(buckets[0].algorithms.back(), static_cast<std::uint8_t>(A::kAllToAll));
    const auto& list = buckets[0].algorithms;
    chances.push_back(static_cast<int>(std::count(list.begin(), list.end(), usual)));
  }
  EXPECT_GT(chances[0], 0);
  EXPECT_EQ(chances, (std::vector<int>{chances[0], chances[0], 0, chances[0], 0}));
  // It needs no more than these to be the choice again.
  for (int i = 0; i < chances[0]; ++i) choice.Add(A::kRecursiveDoubling, bytes, 50e-6);
  std::vector<Bucket> buckets = {BucketOf(bytes)};
  choice.ForPlan(buckets);
  EXPECT_EQ(buckets[0].algorithms.back(), usual);
}

TEST(AlgorithmChoiceTest, WishesAndGuaranteesAreNotTried) {
  const Network net{.team = On(6, 1)};
  SelectInput torus = net.team;
  torus.torus = true;
  AlgorithmChoice wished(torus, true);
  for (A algorithm : RunSteps(wished, net, 1 << 20, 50)) EXPECT_EQ(algorithm, A::kTorus);
  const collectives::AllreduceRule rules[] = {{A::kTree, 0, 4096}};
  SelectInput some = net.team;
  some.overrides = rules;
  AlgorithmChoice ruled(some, true);
  for (A algorithm : RunSteps(ruled, net, 4000, 50)) EXPECT_EQ(algorithm, A::kTree);
  SelectInput sure = net.team;
  sure.deterministic = true;
  AlgorithmChoice deterministic(sure, true);
  AlgorithmChoice by_rules(net.team, false);
  for (AlgorithmChoice* choice : {&deterministic, &by_rules}) {
    RunSteps(*choice, net, 1 << 20, 50);
    std::vector<Bucket> buckets = {BucketOf(1 << 20)};
    choice->ForRun(buckets);
    choice->ForPlan(buckets);
    EXPECT_TRUE(buckets[0].algorithms.empty());
    EXPECT_FALSE(choice->RoundEnded(1000));
  }
}

TEST(AlgorithmChoiceTest, MpisOwnIsTriedAndTakenIfItIsTheFastest) {
  for (const double times : {0.3, 1.0, 3.0}) {
    const Network net{.team = On(4, 1), .odd = A::kMpi, .times = times};
    AlgorithmChoice choice(net.team, true, kMpiHas);
    const std::vector<A> ran = RunSteps(choice, net, 4 << 20, 200);
    EXPECT_GT(std::count(ran.begin(), ran.end(), A::kMpi), 0) << times;
    EXPECT_EQ(ran.back() == A::kMpi, times < 1.0) << times;
    AlgorithmChoice without(net.team, true);
    const std::vector<A> others = RunSteps(without, net, 4 << 20, 200);
    EXPECT_EQ(std::count(others.begin(), others.end(), A::kMpi), 0);
  }
}

TEST(AlgorithmChoiceTest, MpisOwnIsForWhatItHasATypeAndAnOperationFor) {
  const Network net{.team = On(4, 1), .odd = A::kMpi, .times = 0.3};
  AlgorithmChoice choice(net.team, true, kMpiHas);
  RunSteps(choice, net, 4 << 20, 200);
  const auto chosen = [&](ElementType type, ReduceOp op) {
    std::vector<Bucket> buckets = {BucketOf(4 << 20)};
    buckets[0].type = type;
    buckets[0].op = op;
    choice.ForPlan(buckets, false);
    return static_cast<A>(buckets[0].algorithms.back());
  };
  EXPECT_EQ(chosen(ElementType::kFloat32, ReduceOp::kSum), A::kMpi);
  EXPECT_EQ(chosen(ElementType::kFloat32, ReduceOp::kAverage), A::kMpi) << "which is a sum";
  EXPECT_EQ(chosen(ElementType::kInt32, ReduceOp::kMax), A::kMpi);
  const A other = chosen(ElementType::kBfloat16, ReduceOp::kSum);
  EXPECT_NE(other, A::kMpi);
  EXPECT_NE(chosen(ElementType::kInt32, ReduceOp::kMin), A::kMpi);
  EXPECT_FALSE(choice.IsTrial(A::kMpi, 4 << 20));
  EXPECT_TRUE(choice.IsTrial(A::kMpi, 4 << 20, ElementType::kBfloat16));
}

TEST(AlgorithmChoiceTest, OneHostIsLeftAloneUnlessItRunsOverLinks) {
  AlgorithmChoice choice(On(1, 4), true);
  EXPECT_FALSE(choice.active());
  std::vector<Bucket> buckets = {BucketOf(1 << 20)};
  choice.ForRun(buckets);
  EXPECT_TRUE(buckets[0].algorithms.empty());
  choice.Add(A::kRing, 1 << 20, 1e-3);
  EXPECT_TRUE(choice.active());
  AlgorithmChoice alone(On(1, 1), true);
  alone.Add(A::kRing, 1 << 20, 1e-3);
  EXPECT_FALSE(alone.active());
}

TEST(AlgorithmChoiceTest, EmptyAndForeignBucketsAreServedToo) {
  const Network net{.team = On(2, 1)};
  AlgorithmChoice choice(net.team, true);
  RunSteps(choice, net, 1000, 20);
  std::vector<Bucket> buckets = {BucketOf(0), BucketOf(8)};
  buckets[1].kind = Kind::kAllgather;
  choice.ForRun(buckets);
  EXPECT_EQ(buckets[0].algorithms.size(), 1u);
  EXPECT_TRUE(buckets[1].algorithms.empty());
}

}  // namespace
}  // namespace horovodx::negotiation

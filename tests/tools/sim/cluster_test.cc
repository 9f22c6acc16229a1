#include "tools/sim/cluster.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

namespace horovodx::sim {
namespace {

using A = collectives::AllreduceAlgorithm;

Cluster Of(int hosts, int ranks_per_host) {
  Cluster c;
  c.hosts = hosts;
  c.ranks_per_host = ranks_per_host;
  c.host = {1e-6, 1e-10};
  c.net = {50e-6, 1e-9};
  c.reduce = 1e-10;
  c.windows = false;
  return c;
}

// The counts of publications: 2(M-1) steps and 2N(M-1)/M bytes a rank round a ring.
TEST(ClusterTest, ARingHasItsPublishedStepsAndTraffic) {
  for (const int ranks : {2, 3, 8, 64, 100'000}) {
    const Traffic t = TrafficOf(A::kRing, Of(ranks, 1), 1'000'000);
    EXPECT_EQ(t.net.steps, 2u * static_cast<unsigned>(ranks - 1));
    EXPECT_DOUBLE_EQ(t.net.bytes, 2e6 * (ranks - 1) / ranks);
    EXPECT_EQ(t.host.steps, 0u);
  }
}

// 2N(M-1) in all: the master sends N to each of the others, and each of them N to it.
TEST(ClusterTest, MasterAndWorkersHaveTheirPublishedTraffic) {
  for (const int ranks : {2, 5, 16}) {
    const Traffic t = TrafficOf(A::kMasterWorker, Of(ranks, 1), 1000);
    EXPECT_DOUBLE_EQ(t.net.bytes + (ranks - 1) * 1000.0, 2000.0 * (ranks - 1));
    EXPECT_EQ(t.net.steps, 2u * static_cast<unsigned>(ranks - 1));
  }
}

// Published: 4(k-1) + 2(M/k - 1) with k ranks a group. Ours goes up and down trees inside the group
// and takes no more.
TEST(ClusterTest, HierarchicalTakesNoMoreStepsThanPublished) {
  for (const int local : {2, 3, 4, 8, 16}) {
    for (const int hosts : {2, 7, 32}) {
      const Traffic t = TrafficOf(A::kHierarchical, Of(hosts, local), 1000);
      EXPECT_EQ(t.net.steps, 2u * static_cast<unsigned>(hosts - 1));
      EXPECT_EQ(t.host.steps, 2u * static_cast<unsigned>(std::ceil(std::log2(local))));
      EXPECT_LE(t.host.steps, 4u * static_cast<unsigned>(local - 1));
    }
  }
}

TEST(ClusterTest, TheRanksOfAHostShareItsNetwork) {
  // By slices, each of 4 ranks carries a quarter over the network at the same time.
  const Cluster c = Of(8, 4);
  const Traffic slices = TrafficOf(A::kHierarchicalSlices, c, 4'000'000);
  EXPECT_EQ(slices.flows, 4);
  EXPECT_DOUBLE_EQ(slices.net.path_bytes, 2e6 * 7 / 8);
  EXPECT_DOUBLE_EQ(slices.host.path_bytes, 8e6 * 3 / 4);
  // So a host's network carries as much as with one rank that does it all.
  const Traffic masters = TrafficOf(A::kHierarchical, c, 4'000'000);
  EXPECT_DOUBLE_EQ(slices.flows * slices.net.path_bytes, masters.flows * masters.net.path_bytes);
}

TEST(ClusterTest, SecondsAreStepsAndBytesAtTheirLevel) {
  const Cluster c = Of(4, 1);
  EXPECT_DOUBLE_EQ(SecondsOf(A::kRing, c, 4'000'000), 6 * 50e-6 + 6e6 * 1e-9 + 3e6 * 1e-10);
  EXPECT_DOUBLE_EQ(SecondsOf(A::kRing, Of(1, 4), 4'000'000), 6 * 1e-6 + 6e6 * 1e-10 + 3e6 * 1e-10);
  EXPECT_EQ(SecondsOf(A::kRing, Of(1, 1), 4'000'000), 0.0);
}

TEST(ClusterTest, WindowsCostALatencyEach) {
  Cluster c = Of(4, 1);
  const double one = SecondsOf(A::kRing, c, 8 << 20);  // eight windows of 4 * 256 KiB
  c.windows = true;
  EXPECT_NEAR(SecondsOf(A::kRing, c, 8 << 20) - one, 7 * 6 * 50e-6, 1e-12);
}

TEST(ClusterTest, BestIsTheLeastOfAll) {
  const Cluster c = Of(16, 4);
  for (const std::uint64_t bytes : {8u, 10'000u, 1'000'000u, 100'000'000u}) {
    const double best = SecondsOf(AlgorithmFor({Choice::How::kBest, A::kRing}, c, bytes), c, bytes);
    for (const A a : collectives::AllAllreduceAlgorithms()) {
      EXPECT_LE(best, SecondsOf(a, c, bytes)) << NameOf(a) << " of " << bytes;
    }
  }
}

TEST(ClusterTest, TheUsersRulesComeFirst) {
  Cluster c = Of(4, 1);
  const Choice choice = Choice::Of("auto").value();
  EXPECT_EQ(AlgorithmFor(choice, c, 100), A::kRecursiveDoubling);
  EXPECT_EQ(AlgorithmFor(choice, c, 100 << 20), A::kRing);
  c.rules = collectives::ParseAllreduceRules("tree:0-1K").value();
  EXPECT_EQ(AlgorithmFor(choice, c, 100), A::kTree);
}

// By slices the rings between hosts travel while ranks of a host add up: the longer of the two
// counts, but for the first window. As the engine itself predicts it.
TEST(ClusterTest, WorkInsideAHostRunsBesideTheNetwork) {
  Cluster c = Of(4, 2);
  c.windows = true;
  c.reduce = 0.0;
  for (const A a : {A::kHierarchicalSlices, A::kTorus}) {
    const Traffic t = TrafficOf(a, c, 64 << 20);
    const double host = static_cast<double>(t.host.steps) * 1e-6 + t.host.path_bytes * 1e-10;
    const double net = static_cast<double>(t.net.steps) * 50e-6 + t.net.path_bytes * 2 * 1e-9;
    EXPECT_GT(t.beside, 0.9);
    EXPECT_LT(SecondsOf(a, c, 64 << 20), net + 0.1 * host);
    const collectives::SelectInput in{
        .bytes = 64 << 20, .ranks = 8, .hosts = 4, .ranks_per_host = 2};
    EXPECT_EQ(SecondsOf(a, c, 64 << 20), SecondsByLinks(a, in, {c.host, c.net}));
  }
}

TEST(ClusterTest, AutoGoesByTimeWhereTheRulesGoBySize) {
  const Cluster c = Of(16, 1);  // 30 messages of 50 us round the ring
  EXPECT_EQ(AlgorithmFor(Choice::Of("rules").value(), c, 600 << 10), A::kRing);
  EXPECT_EQ(AlgorithmFor(Choice::Of("auto").value(), c, 600 << 10), A::kRecursiveHalvingDoubling);
}

// With costs of links alone: the choice of the engine, size by size.
TEST(ClusterTest, AutoIsTheEnginesOwnSelection) {
  for (const auto& [hosts, local] : {std::pair{2, 1}, {5, 1}, {8, 2}, {16, 4}}) {
    Cluster c = Of(hosts, local);
    c.windows = true;
    c.reduce = 0.0;
    const collectives::AllreduceCosts costs{{c.host, c.net}, {}};
    for (std::size_t bytes = 64; bytes < (std::size_t{1} << 28); bytes = bytes * 5 / 3) {
      const collectives::SelectInput in{.bytes = bytes,
                                        .ranks = hosts * local,
                                        .hosts = hosts,
                                        .ranks_per_host = local,
                                        .costs = &costs};
      EXPECT_EQ(AlgorithmFor(Choice::Of("auto").value(), c, bytes), SelectAllreduce(in)) << bytes;
    }
  }
}

// What adding up takes counts, too: recursive doubling adds up everything at every step.
TEST(ClusterTest, AutoKnowsWhatAddingUpTakes) {
  Cluster c = Of(4, 1);
  const Choice choice = Choice::Of("auto").value();
  ASSERT_EQ(AlgorithmFor(choice, c, 8000), A::kRecursiveDoubling);
  c.reduce = 1e-6;
  EXPECT_NE(AlgorithmFor(choice, c, 8000), A::kRecursiveDoubling);
}

TEST(ClusterTest, AnAlgorithmThatIsNoneIsNamed) {
  EXPECT_NE(Choice::Of("rings").status().message().find("'rings'"), std::string::npos);
}

}  // namespace
}  // namespace horovodx::sim

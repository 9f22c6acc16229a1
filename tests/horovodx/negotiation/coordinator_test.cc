#include "horovodx/negotiation/coordinator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "horovodx/base/log.h"
#include "tests/horovodx/negotiation/coordinator_fixture.h"

namespace horovodx::negotiation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(CoordinatorTest, ANameRunsWhenAllHaveAskedForIt) {
  Ask(0, {MakeRequest("a"), MakeRequest("b")});
  EXPECT_THAT(NamesRun(), IsEmpty());
  Ask(1, {MakeRequest("b")});
  EXPECT_THAT(NamesRun(), ElementsAre("b"));
  Ask(1, {MakeRequest("a")});
  EXPECT_THAT(NamesRun(), ElementsAre("a"));
}

TEST_F(CoordinatorTest, WhatIsReadyTogetherIsFused) {
  AskBoth({MakeRequest("a"), MakeRequest("b"), MakeRequest("c", Kind::kBroadcast)});
  const auto runs = Take<negotiation::Run>();
  ASSERT_THAT(runs, SizeIs(1));
  ASSERT_THAT(runs[0].buckets, SizeIs(2));
  EXPECT_THAT(runs[0].buckets[0].entries, SizeIs(2));
  EXPECT_THAT(runs[0].cache_ids, SizeIs(3));
  EXPECT_EQ(runs[0].cache_ids[2], 0u) << "broadcasts are not cached";
}

TEST_F(CoordinatorTest, AMismatchFailsThatTensorAlone) {
  Ask(0, {MakeRequest("a"), MakeRequest("b")});
  Ask(1, {MakeRequest("a", Kind::kAllreduce, {9}), MakeRequest("b")});
  const auto runs = Take<negotiation::Run>();
  ASSERT_THAT(runs, SizeIs(1));
  EXPECT_EQ(runs[0].buckets[0].kind, Kind::kError);
  EXPECT_EQ(runs[0].buckets[1].kind, Kind::kAllreduce);
}

TEST_F(CoordinatorTest, AGroupComesOutWhole) {
  Request a = MakeRequest("a");
  Request b = MakeRequest("b");
  a.group = b.group = "g";
  a.group_size = b.group_size = 2;
  AskBoth({a});
  EXPECT_THAT(NamesRun(), IsEmpty());
  AskBoth({b});
  EXPECT_THAT(NamesRun(), ElementsAre("a", "b"));
}

TEST_F(CoordinatorTest, CachedIdsStandForRequests) {
  AskBoth({MakeRequest("a")});
  const std::uint64_t id = Take<negotiation::Run>().at(0).cache_ids.at(0);
  Say(0, Ready{0, 0, {}, {id}, 0});
  Say(1, Ready{0, 0, {}, {id}, 0});
  const auto runs = Take<negotiation::Run>();
  ASSERT_THAT(runs, SizeIs(1));
  EXPECT_THAT(runs[0].cache_ids, ElementsAre(id));
}

TEST_F(CoordinatorTest, AChangedRequestInvalidatesTheIdOfAll) {
  AskBoth({MakeRequest("a")});
  const std::uint64_t id = Take<negotiation::Run>().at(0).cache_ids.at(0);
  Ask(0, {MakeRequest("a", Kind::kAllreduce, {7})});
  Say(1, Ready{0, 0, {}, {id}, 0});
  const auto resends = Take<Resend>();
  ASSERT_THAT(resends, SizeIs(1));
  EXPECT_THAT(resends[0].ids, ElementsAre(id));
  Say(1, Ready{0, 0, {MakeRequest("a", Kind::kAllreduce, {7})}, {}, 1});
  const auto runs = Take<negotiation::Run>();
  ASSERT_THAT(runs, SizeIs(1));
  EXPECT_EQ(runs[0].buckets[0].kind, Kind::kAllreduce);
  EXPECT_THAT(runs[0].evicted, ElementsAre(id));
  EXPECT_GT(runs[0].cache_ids[0], id);
}

TEST_F(CoordinatorTest, IdsNeverGivenAreAskedForInFull) {
  Say(0, Ready{0, 0, {}, {77, 0}, 0});
  EXPECT_THAT(Take<Resend>().at(0).ids, ElementsAre(77, 0));
}

TEST_F(CoordinatorTest, AJoinedRankIsNotWaitedFor) {
  Ask(1, {MakeRequest("join.noname", Kind::kJoin)});
  Ask(0, {MakeRequest("a"), MakeRequest("g", Kind::kAllgather)});
  auto runs = Take<negotiation::Run>();
  ASSERT_THAT(runs, SizeIs(1));
  EXPECT_EQ(runs[0].buckets[0].kind, Kind::kAllreduce);
  EXPECT_THAT(runs[0].cache_ids, ElementsAre(0, 0));
  EXPECT_THAT(runs[0].buckets[1].error.message(),
              HasSubstr("Allgather is not supported with Join"));
  Ask(0, {MakeRequest("join.noname", Kind::kJoin)});
  runs = Take<negotiation::Run>();
  ASSERT_THAT(runs, SizeIs(1));
  EXPECT_EQ(runs[0].buckets[0].kind, Kind::kJoin);
  EXPECT_EQ(runs[0].buckets[0].last_joined, 0);
  Ask(0, {MakeRequest("a")});
  EXPECT_THAT(NamesRun(), IsEmpty()) << "all take part again";
}

TEST_F(CoordinatorTest, AJoinWaitsForWhatItsRankStillOwes) {
  Say(1, Ready{0, 0, {MakeRequest("join.noname", Kind::kJoin)}, {55}, 0});
  Ask(0, {MakeRequest("a")});
  EXPECT_THAT(NamesRun(), IsEmpty()) << "55 may be rank 1's a";
  Say(1, Ready{0, 0, {MakeRequest("a")}, {}, 1});
  EXPECT_THAT(NamesRun(), ElementsAre("a"));
  Ask(0, {MakeRequest("b")});
  EXPECT_THAT(NamesRun(), ElementsAre("b")) << "now it has joined";
}

TEST_F(CoordinatorTest, StepsThatRepeatBecomeAPlan) {
  const StartPlan plan = ReachPlan();
  EXPECT_EQ(plan.epoch, 1u);
  ASSERT_THAT(plan.buckets, SizeIs(1));
  EXPECT_THAT(plan.buckets[0].entries, SizeIs(2));
  AskBoth({MakeRequest("a")}, 0);
  EXPECT_THAT(NamesRun(), IsEmpty()) << "said in an epoch that is over";
}

TEST_F(CoordinatorTest, BetweenHostsBucketsSayWhichAlgorithmRuns) {
  options.hosts = topology::HostMap::Grid(2, 1);
  Make();
  AskBoth({MakeRequest("a"), MakeRequest("g", Kind::kAllgather)});
  for (const negotiation::Run& run : Take<negotiation::Run>()) {
    for (const Bucket& bucket : run.buckets) {
      EXPECT_THAT(bucket.algorithms, SizeIs(bucket.kind == Kind::kAllreduce ? 1 : 0));
    }
  }
  options.measured_selection = false;
  Make();
  AskBoth({MakeRequest("a")});
  EXPECT_THAT(Take<negotiation::Run>().at(0).buckets.at(0).algorithms, IsEmpty());
}

TEST_F(CoordinatorTest, FasterAlgorithmsFoundInAPlanMakeAnother) {
  options.hosts = topology::HostMap::Grid(3, 1);
  options.size = 3;
  Make();
  const auto ask = [&](std::uint32_t epoch) {
    for (int rank = 0; rank < 3; ++rank) Ask(rank, {MakeRequest("a"), MakeRequest("b")}, epoch);
  };
  constexpr std::uint8_t kUsual = 2;  // recursive doubling
  // All but the one that the rules choose take five times as long, which no formula can know.
  const auto measure = [&](std::uint8_t algorithm, std::uint64_t number, std::uint32_t epoch) {
    Measured m;
    m.epoch = epoch;
    m.planned = epoch % 2 == 1;
    m.number = number;
    m.algorithm = algorithm;
    m.bytes = 64;
    m.seconds = algorithm == kUsual ? 1e-3 : 5e-3;
    m.submitted.resize(2);
    coordinator->OnMeasured(m);
  };
  StartPlan plan;
  for (int step = 0; plan.buckets.empty() && step < 10; ++step) {
    ask(0);
    for (const Outgoing& out : coordinator->TakeMessages()) {
      if (const auto* start = std::get_if<StartPlan>(&out.message)) plan = *start;
      if (std::holds_alternative<negotiation::Run>(out.message)) measure(kUsual, 0, 0);
    }
  }
  ASSERT_THAT(plan.buckets, SizeIs(1));
  const auto& told = plan.buckets[0].algorithms;
  EXPECT_NE(told.back(), kUsual) << "another one is predicted to take less";
  bool asked = false;
  std::uint64_t round = 0;
  for (; round < 200 && !asked; ++round) {
    measure(told[std::min<std::uint64_t>(round, told.size() - 1)], round, plan.epoch);
    asked = !Take<PleaseLeave>().empty();
  }
  ASSERT_TRUE(asked);
  // However early that was: a plan left for a better one was no mistake, and the next one comes as
  // soon and merges as much.
  for (int rank = 0; rank < 3; ++rank)
    Say(rank, Leave{0, plan.epoch, std::min<std::uint64_t>(round, 1)});
  StartPlan next;
  for (int step = 0; next.buckets.empty() && step < options.repeats_before_plan + 1; ++step) {
    ask(plan.epoch + 1);
    const auto plans = Take<StartPlan>();
    if (!plans.empty()) next = plans[0];
  }
  ASSERT_THAT(next.buckets, SizeIs(1));
  EXPECT_EQ(next.buckets[0].algorithms.back(), kUsual);
}

TEST_F(CoordinatorTest, AllreducesSayTheSegmentThatTheUserWants) {
  options.segment = 512 << 10;
  Make();
  AskBoth({MakeRequest("a"), MakeRequest("g", Kind::kAllgather)});
  for (const negotiation::Run& run : Take<negotiation::Run>()) {
    for (const Bucket& bucket : run.buckets) {
      EXPECT_EQ(bucket.segment, bucket.kind == Kind::kAllreduce ? 512u << 10 : 0u);
      EXPECT_EQ(bucket.streams, 0);
    }
  }
  EXPECT_EQ(ReachPlan().buckets.at(0).segment, 512u << 10);
}

TEST_F(CoordinatorTest, SegmentsAndStreamsAreTunedFromPlanToPlan) {
  options.autotune.enabled = true;
  options.autotune.warmup_samples = 0;
  options.autotune.steps_per_sample = 1;  // plans of six rounds: ended so early on purpose
  options.autotune.search.first.streams = 1;
  options.autotune.search.free.segment = true;
  options.autotune.search.free.most_streams = 4;
  Make();
  std::set<std::pair<std::uint32_t, int>> tried;
  for (std::uint32_t epoch = 0; epoch < 8; epoch += 2) {
    AskBoth({MakeRequest("a")}, epoch);
    for (const negotiation::Run& run : Take<negotiation::Run>()) {
      EXPECT_EQ(run.buckets.at(0).segment, 0u) << "negotiated: as the user said";
      EXPECT_EQ(run.buckets.at(0).streams, 1);
    }
    const StartPlan plan = ReachPlan(epoch, 6);
    ASSERT_THAT(plan.buckets, SizeIs(1));
    if (epoch == 0) {
      EXPECT_EQ(plan.buckets[0].segment, 0u) << "what is given comes first";
      EXPECT_EQ(plan.buckets[0].streams, 1);
    }
    tried.insert({plan.buckets[0].segment, plan.buckets[0].streams});
    std::uint64_t round = 0;
    while (Take<PleaseLeave>().empty()) {
      ASSERT_LT(round, 20u);
      Measured m;
      m.epoch = plan.epoch;
      m.planned = true;
      m.number = round++;
      m.bytes = 64;
      m.seconds = 1e-3;
      m.submitted = {AtSecond(second), AtSecond(second)};
      second += 0.01;
      coordinator->OnMeasured(m);
    }
    Say(0, Leave{0, plan.epoch, round});
    Say(1, Leave{0, plan.epoch, round});
  }
  EXPECT_THAT(tried, SizeIs(4)) << "each plan has its own";
}

TEST_F(CoordinatorTest, TheFirstWhoLeavesEndsThePlan) {
  ReachPlan();
  Say(1, Leave{0, 1, 4});
  Say(0, Leave{0, 1, 4});
  const auto ends = Take<EndPlan>();
  ASSERT_THAT(ends, SizeIs(1));
  EXPECT_EQ(ends[0].epoch, 2u);
  EXPECT_EQ(ends[0].bucket, 4u);
  AskBoth({MakeRequest("x")}, 2);
  EXPECT_THAT(NamesRun(), ElementsAre("x"));
  EXPECT_EQ(ReachPlan(2).epoch, 3u);
}

// What the timeline hears of plans.
class PlansSeen : public Observer {
 public:
  void NegotiationStarted(const std::string&, Kind) override {}
  void RankReady(const std::string&, int) override {}
  void NegotiationEnded(const std::string&) override {}
  void PlanStarted(const PlanSeen& plan) override {
    said.push_back("epoch " + std::to_string(plan.epoch) + " by " + plan.rule + ": " +
                   std::to_string(plan.tensors) + " in " + std::to_string(plan.buckets));
    EXPECT_GT(plan.predicted, 0.0);
  }
  void PlanEnded(std::int32_t set, std::uint64_t bucket, const std::string& why) override {
    said.push_back(std::to_string(set) + " before " + std::to_string(bucket) + ": " + why);
  }
  std::vector<std::string> said;
};

TEST_F(CoordinatorTest, AnObserverIsToldOfPlansAndWhyTheyEnd) {
  PlansSeen seen;
  options.observer = &seen;
  options.schedule = "wfbp";
  Make();
  ReachPlan();
  Say(1, Leave{0, 1, 4, "'x' is not in the plan"});
  Say(0, Leave{0, 1, 4, "'x' is not in the plan"});
  ReachPlan(2);
  Say(0, Stuck{0, 3, 7});
  Say(1, Leave{0, 3, 7, "was asked to"});
  ReachPlan(4);
  Say(1, WantShutdown{});
  Say(0, Leave{0, 5, 2, "was asked to"});
  EXPECT_THAT(
      seen.said,
      ElementsAre("epoch 1 by wfbp: 2 in 2",  //
                  "0 before 4: rank 1: 'x' is not in the plan", "epoch 3 by wfbp: 2 in 2",
                  "0 before 7: rank 0 waited for long for others in bucket 1",
                  "epoch 5 by wfbp: 2 in 2", "0 before 2: the job ends, or the set is removed"));
}

TEST_F(CoordinatorTest, LeavingAtDifferentBucketsIsABrokenProtocol) {
  ReachPlan();
  Say(1, Leave{0, 1, 4});
  Say(0, Leave{0, 1, 5});
  const auto failed = Take<Failed>();
  ASSERT_THAT(failed, SizeIs(1));
  EXPECT_EQ(failed[0].rank, 0);
}

TEST_F(CoordinatorTest, NoPlanWhileSomebodyWaitsForSomethingElse) {
  Ask(0, {MakeRequest("other")});
  for (int step = 0; step < 10; ++step) {
    AskBoth({MakeRequest("a")});
    EXPECT_THAT(Take<StartPlan>(), IsEmpty());
  }
  Ask(1, {MakeRequest("other")});
  ReachPlan();
}

TEST_F(CoordinatorTest, WhoIsStuckIsHeardOnce) {
  ReachPlan();
  Say(0, Stuck{0, 1, 7});
  Say(1, Stuck{0, 1, 7});
  EXPECT_THAT(Take<PleaseLeave>(), SizeIs(1));
}

TEST_F(CoordinatorTest, ShutdownWaitsForThePlansEndAndCloseForAll) {
  ReachPlan();
  Say(1, WantShutdown{});
  EXPECT_THAT(Take<PleaseLeave>(), SizeIs(1));
  Say(0, Leave{0, 1, 3});
  const auto records = coordinator->TakeMessages();
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_TRUE(std::holds_alternative<EndPlan>(records[0].message));
  ASSERT_TRUE(std::holds_alternative<Shutdown>(records[1].message));
  EXPECT_EQ(std::get<Shutdown>(records[1].message).why,
            "rank 1 called hvd.shutdown() or ended its script");
  Ask(0, {MakeRequest("late")}, 2);
  Say(0, Drained{});
  EXPECT_THAT(coordinator->TakeMessages(), IsEmpty());
  Say(1, Drained{});
  EXPECT_THAT(Take<Close>(), SizeIs(1));
}

TEST_F(CoordinatorTest, ALostRankIsAnnouncedOnceAndNotWaitedFor) {
  options.size = 3;
  Make();
  Say(2, Lost{1, "killed"});
  Say(0, Lost{1, "killed"});
  const auto records = coordinator->TakeMessages();
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_THAT(records[0].to, ElementsAre(0, 2));
  EXPECT_EQ(std::get<Failed>(records[0].message).why, "killed");
  Say(0, Drained{});
  Say(2, Lost{0, "gone too"});
  Say(2, Drained{});
  EXPECT_THAT(Take<Close>(), SizeIs(1));
}

TEST_F(CoordinatorTest, SetsComeAndGo) {
  Say(0, AddSet{{0}});
  EXPECT_EQ(Take<SetRefused>().at(0).code, kSetsNotDynamic);
  options.dynamic_sets = true;
  Make();
  Say(0, AddSet{{1}});
  EXPECT_THAT(coordinator->TakeMessages(), IsEmpty());
  Say(1, AddSet{{1}});
  EXPECT_EQ(Take<SetAdded>().at(0).set, 1);
  for (int i = 0; i < 3; ++i) Ask(1, {MakeRequest("a")}, 0, 1);
  Ask(1, {MakeRequest("a")}, 0, 1);
  EXPECT_THAT(Take<StartPlan>(), SizeIs(1));
  Say(0, RemoveSet{1});
  Say(1, RemoveSet{1});
  EXPECT_THAT(Take<SetRemoved>(), IsEmpty()) << "its plan must end first";
  Say(1, Leave{1, 1, 0});
  EXPECT_EQ(Take<SetRemoved>().at(0).set, 1);
  Ask(1, {MakeRequest("a")}, 2, 1);
  EXPECT_THAT(coordinator->TakeMessages(), IsEmpty());
}

std::string g_log;

TEST_F(CoordinatorTest, AStallIsReportedThenEndsTheJob) {
  options.stall_shutdown = Seconds(90);
  Make();
  EXPECT_EQ(coordinator->next_time(), TimePoint::max());
  Ask(0, {MakeRequest("a")});
  EXPECT_EQ(coordinator->next_time(), AtSecond(60));
  SetLogSink([](LogLevel, const std::string& line) { g_log += line; });
  coordinator->OnTime(AtSecond(60));
  EXPECT_THAT(g_log, HasSubstr("Missing ranks:\n1: [a]\n"));
  EXPECT_THAT(coordinator->TakeMessages(), IsEmpty());
  EXPECT_EQ(coordinator->next_time(), AtSecond(90));
  coordinator->OnTime(AtSecond(90));
  SetLogSink(nullptr);
  EXPECT_THAT(g_log, HasSubstr("1!: [a]"));
  EXPECT_EQ(Take<Shutdown>().at(0).why, "stalled ranks: 1 (rank 1 has not submitted [a])");
}

}  // namespace
}  // namespace horovodx::negotiation

#include "horovodx/negotiation/member.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/horovodx/negotiation/request_maker.h"

namespace horovodx::negotiation {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Bucket BucketOf(const std::vector<std::string>& names) {
  Bucket bucket;
  for (const auto& name : names) bucket.entries.push_back({name, 8, {4, 2}, {}});
  return bucket;
}

class MemberTest : public testing::Test {
 protected:
  void Submit(const std::string& name, Kind kind = Kind::kAllreduce) {
    member.Submit(MakeRequest(name, kind), AtSecond(second));
  }
  Status Tell(const DownMessage& message) { return member.OnMessage(message, AtSecond(second)); }
  // Agrees on these names, runs them.
  void RunOnce(const std::vector<std::string>& names) {
    for (const auto& name : names) Submit(name);
    (void)member.TakeMessages();
    ASSERT_TRUE(Tell(negotiation::Run{0, {BucketOf(names)}, {}, {}}).ok());
    ASSERT_TRUE(member.Next());
    member.Finished(AtSecond(second));
  }
  // In a plan of buckets {a}, {b, c}.
  void StartPlan() {
    RunOnce({"a", "b", "c"});
    ASSERT_TRUE(Tell(negotiation::StartPlan{0, 1, {BucketOf({"a"}), BucketOf({"b", "c"})}}).ok());
    ASSERT_TRUE(member.in_plan());
  }
  std::vector<Leave> Leaves() {
    std::vector<Leave> leaves;
    for (const UpMessage& m : member.TakeMessages()) {
      if (const auto* leave = std::get_if<Leave>(&m)) leaves.push_back(*leave);
    }
    return leaves;
  }

  double second = 0;
  Member member{MemberOptions{}};
};

TEST_F(MemberTest, SendsIdsForWhatIsUnchanged) {
  Submit("a");
  Submit("b");
  auto sent = member.TakeMessages();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_THAT(std::get<Ready>(sent[0]).requests, SizeIs(2));
  ASSERT_TRUE(Tell(negotiation::Run{0, {BucketOf({"a"}), BucketOf({"b"})}, {11, 12}, {12}}).ok());
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(member.Next());
    member.Finished(AtSecond(0));
  }
  EXPECT_TRUE(member.idle());
  Submit("a");
  Submit("b");  // 12 was evicted
  sent = member.TakeMessages();
  EXPECT_THAT(std::get<Ready>(sent[0]).cached, ElementsAre(11));
  EXPECT_THAT(std::get<Ready>(sent[0]).requests, SizeIs(1));
  ASSERT_TRUE(Tell(Resend{0, 0, {11}}).ok());
  sent = member.TakeMessages();
  EXPECT_EQ(std::get<Ready>(sent[0]).requests.at(0).name, "a");
  EXPECT_EQ(std::get<Ready>(sent[0]).resent, 1u);
}

TEST_F(MemberTest, AChangedRequestGoesInFull) {
  Submit("a");
  (void)member.TakeMessages();
  ASSERT_TRUE(Tell(negotiation::Run{0, {BucketOf({"a"})}, {11}, {}}).ok());
  ASSERT_TRUE(member.Next());
  member.Finished(AtSecond(0));
  member.Submit(MakeRequest("a", Kind::kAllreduce, {5}), AtSecond(0));
  const auto sent = member.TakeMessages();
  EXPECT_THAT(std::get<Ready>(sent[0]).cached, IsEmpty());
  EXPECT_THAT(std::get<Ready>(sent[0]).requests, SizeIs(1));
}

TEST_F(MemberTest, PlannedBucketsRunWithoutAsking) {
  StartPlan();
  for (int round = 0; round < 3; ++round) {
    Submit("c");
    EXPECT_FALSE(member.Next());
    EXPECT_EQ(member.missing(), 1u);
    Submit("a");
    auto work = member.Next();
    ASSERT_TRUE(work);
    EXPECT_TRUE(work->planned);
    EXPECT_EQ(work->number, 2u * round);
    EXPECT_EQ(work->epoch, 1u);
    member.Finished(AtSecond(0));
    EXPECT_FALSE(member.Next());
    Submit("b");
    ASSERT_TRUE(member.Next());
    member.Finished(AtSecond(0));
  }
  EXPECT_THAT(member.TakeMessages(), IsEmpty());
}

TEST_F(MemberTest, APlanSaysRoundByRoundWhichAlgorithmRuns) {
  RunOnce({"a", "b"});
  Bucket first = BucketOf({"a"});
  first.algorithms = {3, 5, 1};
  ASSERT_TRUE(Tell(negotiation::StartPlan{0, 1, {first, BucketOf({"b"})}}).ok());
  for (const std::uint8_t expected : {3, 5, 1, 1}) {
    for (const char* name : {"a", "b"}) {
      Submit(name);
      const auto work = member.Next();
      ASSERT_TRUE(work);
      EXPECT_EQ(work->algorithm, *name == 'a' ? expected : kByRules);
      member.Finished(AtSecond(second));
    }
  }
}

TEST_F(MemberTest, AnUnknownNameLeavesThePlanAndIsAskedForAfterIt) {
  StartPlan();
  Submit("b");
  Submit("new");
  EXPECT_THAT(Leaves(), ElementsAre(Leave{0, 1, 0, "'new' is not in the plan"}));
  Submit("a");
  EXPECT_FALSE(member.Next()) << "it gives nothing more to a plan it has left";
  EXPECT_THAT(member.TakeMessages(), IsEmpty());
  ASSERT_TRUE(Tell(EndPlan{0, 2, 0}).ok());
  EXPECT_FALSE(member.in_plan());
  const auto sent = member.TakeMessages();
  const auto& ready = std::get<Ready>(sent.at(0));
  EXPECT_EQ(ready.epoch, 2u);
  EXPECT_THAT(ready.requests, SizeIs(3));
}

TEST_F(MemberTest, LeavingItSaysTheFirstReason) {
  StartPlan();
  Request other = MakeRequest("a");
  other.shape = {12345};
  member.Submit(other, AtSecond(second));
  Submit("new");
  EXPECT_THAT(Leaves(), ElementsAre(Leave{0, 1, 0, "'a' is asked for otherwise than planned"}));
}

TEST_F(MemberTest, LeavesOnlyBetweenBuckets) {
  StartPlan();
  Submit("a");
  ASSERT_TRUE(member.Next());
  Submit("new");
  EXPECT_THAT(Leaves(), IsEmpty());
  member.Finished(AtSecond(0));
  EXPECT_THAT(Leaves(), ElementsAre(Leave{0, 1, 1, "'new' is not in the plan"}));
}

TEST_F(MemberTest, ABlockedCallerLeavesAPlanThatCannotServeIt) {
  StartPlan();
  Submit("b");
  Submit("c");
  member.Waited("c");  // a is missing
  EXPECT_THAT(Leaves(),
              ElementsAre(Leave{
                  0, 1, 0, "'c' is waited for, but its bucket or one before it lacks a tensor"}));
}

TEST_F(MemberTest, ABlockedCallerWhoseBucketCanRunStays) {
  StartPlan();
  Submit("a");
  member.Waited("a");
  ASSERT_TRUE(member.Next());
  member.Finished(AtSecond(0));
  Submit("b");
  EXPECT_THAT(Leaves(), IsEmpty());
  member.Waited("b");  // its own bucket lacks c
  EXPECT_THAT(Leaves(),
              ElementsAre(Leave{
                  0, 1, 1, "'b' is waited for, but its bucket or one before it lacks a tensor"}));
}

TEST_F(MemberTest, TensorsOfANextRoundAreKept) {
  StartPlan();
  Submit("a");
  ASSERT_TRUE(member.Next());
  member.Finished(AtSecond(0));
  Submit("a");
  Submit("b");
  Submit("c");
  ASSERT_TRUE(member.Next());
  member.Finished(AtSecond(0));
  const auto work = member.Next();
  ASSERT_TRUE(work);
  EXPECT_EQ(work->number, 2u);
  EXPECT_THAT(Leaves(), IsEmpty());
}

TEST_F(MemberTest, WhatSomebodyLeftIsDroppedAndAskedForAgain) {
  StartPlan();
  Submit("a");
  ASSERT_TRUE(member.Next());
  ASSERT_TRUE(Tell(EndPlan{0, 2, 0}).ok());
  EXPECT_TRUE(member.drop_wanted());
  EXPECT_THAT(member.TakeMessages(), IsEmpty());
  member.Dropped(AtSecond(0));
  EXPECT_FALSE(member.drop_wanted());
  const auto sent = member.TakeMessages();
  EXPECT_EQ(std::get<Ready>(sent.at(0)).requests.at(0).name, "a");
}

TEST_F(MemberTest, TheBucketBeforeTheEndFinishes) {
  StartPlan();
  Submit("a");
  Submit("b");
  ASSERT_TRUE(member.Next());
  ASSERT_TRUE(Tell(EndPlan{0, 2, 1}).ok());
  EXPECT_FALSE(member.drop_wanted());
  member.Finished(AtSecond(0));
  EXPECT_FALSE(member.in_plan());
  const auto sent = member.TakeMessages();
  EXPECT_THAT(std::get<Ready>(sent.at(0)).requests, SizeIs(1));
}

TEST_F(MemberTest, PatienceEndsAStepThatDoesNotMoveAndDoubles) {
  StartPlan();
  Submit("b");
  EXPECT_EQ(member.next_time(), AtSecond(1));
  member.OnTime(AtSecond(0.9));
  EXPECT_THAT(Leaves(), IsEmpty());
  member.OnTime(AtSecond(1));
  EXPECT_THAT(Leaves(), ElementsAre(Leave{0, 1, 0, "waited for long for the rest of bucket 0"}));
  EXPECT_EQ(member.next_time(), TimePoint::max());
  ASSERT_TRUE(Tell(EndPlan{0, 2, 0}).ok());
  (void)member.TakeMessages();
  ASSERT_TRUE(Tell(negotiation::Run{0, {BucketOf({"b"})}, {}, {}}).ok());
  ASSERT_TRUE(member.Next());
  member.Finished(AtSecond(1));
  ASSERT_TRUE(Tell(negotiation::StartPlan{0, 3, {BucketOf({"a"}), BucketOf({"b"})}}).ok());
  EXPECT_EQ(member.next_time(), TimePoint::max()) << "nothing is outstanding";
  second = 5;
  Submit("b");
  EXPECT_EQ(member.next_time(), AtSecond(7));
}

TEST_F(MemberTest, StuckInABucketItAsksForHelp) {
  StartPlan();
  Submit("a");
  ASSERT_TRUE(member.Next());
  member.OnTime(AtSecond(1));
  const auto sent = member.TakeMessages();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(std::get<Stuck>(sent[0]), (Stuck{0, 1, 0}));
  member.OnTime(AtSecond(100));
  EXPECT_THAT(member.TakeMessages(), IsEmpty());
  ASSERT_TRUE(Tell(PleaseLeave{0, 1}).ok());
  EXPECT_THAT(Leaves(), IsEmpty()) << "it has given to this bucket";
  member.Finished(AtSecond(100));
  EXPECT_THAT(Leaves(), ElementsAre(Leave{0, 1, 1, "was asked to"}));
}

TEST_F(MemberTest, ABucketThatMovesIsSlowAndNotStuck) {
  StartPlan();
  Submit("a");
  ASSERT_TRUE(member.Next());
  for (int at = 1; at < 10; ++at) {
    EXPECT_EQ(member.next_time(), AtSecond(at));
    member.Moved(AtSecond(at));
  }
  EXPECT_THAT(member.TakeMessages(), IsEmpty());
  member.OnTime(AtSecond(10));
  EXPECT_THAT(member.TakeMessages(), SizeIs(1)) << "then it does not move any more";
}

TEST_F(MemberTest, AskedToLeaveItLeavesAtItsCursor) {
  StartPlan();
  ASSERT_TRUE(Tell(PleaseLeave{0, 0}).ok());
  EXPECT_THAT(Leaves(), IsEmpty()) << "an older plan was meant";
  ASSERT_TRUE(Tell(PleaseLeave{0, 1}).ok());
  EXPECT_THAT(Leaves(), ElementsAre(Leave{0, 1, 0, "was asked to"}));
  member.AbandonPlan();
  EXPECT_THAT(Leaves(), IsEmpty()) << "once is enough";
}

Bucket Barrier(const std::string& name) {
  Bucket bucket = BucketOf({name});
  bucket.kind = Kind::kBarrier;
  return bucket;
}

TEST_F(MemberTest, ABarrierIsAskedForWithinAPlan) {
  StartPlan();
  Submit("wait", Kind::kBarrier);
  member.Waited("wait");
  auto sent = member.TakeMessages();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(std::get<Ready>(sent[0]).epoch, 1u);
  EXPECT_THAT(std::get<Ready>(sent[0]).requests, SizeIs(1));
  EXPECT_EQ(member.next_time(), TimePoint::max()) << "others may come as late as they like";
  Submit("a");
  ASSERT_TRUE(member.Next());
  ASSERT_TRUE(Tell(negotiation::Run{0, {Barrier("wait")}, {}, {}}).ok());
  EXPECT_TRUE(member.Next()->planned) << "one at a time";
  member.Finished(AtSecond(0));
  const auto work = member.Next();
  ASSERT_TRUE(work);
  EXPECT_EQ(work->bucket->kind, Kind::kBarrier);
  member.Finished(AtSecond(0));
  EXPECT_THAT(member.TakeMessages(), IsEmpty());
  EXPECT_TRUE(member.in_plan());
  EXPECT_EQ(member.outstanding(), 0u);
}

TEST_F(MemberTest, ABarrierThatAPlansEndOvertookIsAskedForAgain) {
  StartPlan();
  Submit("a");
  ASSERT_TRUE(member.Next());
  Submit("wait", Kind::kBarrier);
  EXPECT_THAT(member.TakeMessages(), SizeIs(1));
  ASSERT_TRUE(Tell(EndPlan{0, 2, 1}).ok());
  EXPECT_THAT(member.TakeMessages(), IsEmpty()) << "a bucket of the plan still runs";
  member.Finished(AtSecond(0));
  const auto sent = member.TakeMessages();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(std::get<Ready>(sent[0]).epoch, 2u);
  EXPECT_EQ(std::get<Ready>(sent[0]).requests.at(0).name, "wait");
}

TEST_F(MemberTest, ABarrierThatAPlansStartOvertookIsAskedForAgain) {
  RunOnce({"a"});
  Submit("wait", Kind::kBarrier);
  EXPECT_THAT(member.TakeMessages(), SizeIs(1));
  ASSERT_TRUE(Tell(negotiation::StartPlan{0, 1, {BucketOf({"a"})}}).ok());
  const auto sent = member.TakeMessages();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(std::get<Ready>(sent[0]).epoch, 1u);
}

TEST_F(MemberTest, UnansweredRequestsAreMeasuredAgainstANewPlan) {
  RunOnce({"a", "b"});
  Submit("a");
  EXPECT_THAT(member.TakeMessages(), SizeIs(1));
  Submit("b");
  member.Waited("a");
  ASSERT_TRUE(Tell(negotiation::StartPlan{0, 1, {BucketOf({"a", "b"})}}).ok());
  EXPECT_THAT(member.TakeMessages(), IsEmpty());
  EXPECT_TRUE(member.Next());
}

TEST_F(MemberTest, AJoinedRankRunsTheOthersTensorsWithZeros) {
  Submit("mine");
  Submit("join.noname", Kind::kJoin);
  Submit("later");
  const auto sent = member.TakeMessages();
  EXPECT_THAT(std::get<Ready>(sent.at(0)).requests, SizeIs(2)) << "nothing after the join";
  ASSERT_TRUE(Tell(negotiation::Run{0, {BucketOf({"theirs", "mine", "later"})}, {}, {}}).ok());
  auto work = member.Next();
  ASSERT_TRUE(work);
  EXPECT_THAT(work->absent, ElementsAre(true, false, true));
  member.Finished(AtSecond(0));
  Bucket join = BucketOf({"join.noname"});
  join.kind = Kind::kJoin;
  ASSERT_TRUE(Tell(negotiation::Run{0, {join}, {}, {}}).ok());
  ASSERT_TRUE(member.Next());
  member.Finished(AtSecond(0));
  EXPECT_EQ(std::get<Ready>(member.TakeMessages().at(0)).requests.at(0).name, "later");
}

TEST_F(MemberTest, WhatBreaksTheProtocolIsAnError) {
  EXPECT_FALSE(Tell(negotiation::Run{0, {BucketOf({"x"})}, {}, {}}).ok());
  EXPECT_FALSE(Tell(negotiation::StartPlan{0, 1, {BucketOf({"x"})}}).ok());
  EXPECT_FALSE(Tell(EndPlan{0, 1, 0}).ok());
  StartPlan();
  EXPECT_FALSE(Tell(negotiation::Run{0, {BucketOf({"a"})}, {}, {}}).ok());
  EXPECT_FALSE(Tell(EndPlan{0, 2, 1}).ok()) << "bucket 0 has not run here";
  EXPECT_FALSE(Tell(EndPlan{0, 4, 0}).ok());
  EXPECT_FALSE(Tell(negotiation::StartPlan{0, 2, {BucketOf({"a"})}}).ok());
  EXPECT_TRUE(Tell(Close{}).ok());
}

}  // namespace
}  // namespace horovodx::negotiation

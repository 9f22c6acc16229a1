#include "horovodx/negotiation/stall_inspector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "horovodx/base/log.h"
#include "tests/horovodx/negotiation/request_maker.h"

namespace horovodx::negotiation {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(StallInspectorTest, NamesTheMissingRanksAndWhatTheyMiss) {
  StallInspector inspector(Seconds(60), Duration::zero());
  const auto report = inspector.Check(
      {{"b", AtSecond(0), {1, 2}}, {"a", AtSecond(1), {2}}, {"young", AtSecond(30), {0}}},
      AtSecond(61));
  ASSERT_TRUE(report);
  EXPECT_THAT(report->text, HasSubstr("One or more tensors were submitted to be reduced, gathered "
                                      "or broadcasted"));
  EXPECT_THAT(report->text, HasSubstr("waiting for remainder of ranks for more than 60 seconds"));
  EXPECT_THAT(report->text, EndsWith("\nMissing ranks:\n1: [b]\n2: [a, b]"));
  EXPECT_THAT(report->stalled, IsEmpty());
}

TEST(StallInspectorTest, CutsTheListAfterSixNames) {
  StallInspector inspector(Seconds(1), Duration::zero());
  std::vector<WaitingTensor> waiting;
  for (const char* name : {"g", "f", "e", "d", "c", "b", "a"}) {
    waiting.push_back({name, AtSecond(0), {3}});
  }
  EXPECT_THAT(inspector.Check(waiting, AtSecond(2))->text, EndsWith("\n3: [a, b, c, d, e, f ...]"));
}

TEST(StallInspectorTest, MarksWhoWaitedTooLong) {
  StallInspector inspector(Seconds(1), Seconds(5));
  for (int second = 1; second < 5; ++second) {
    EXPECT_THAT(inspector.Check({{"a", AtSecond(0), {1}}}, AtSecond(second))->stalled, IsEmpty());
  }
  const auto report =
      inspector.Check({{"a", AtSecond(0), {1}}, {"b", AtSecond(3), {0}}}, AtSecond(5));
  ASSERT_TRUE(report);
  EXPECT_THAT(report->text, HasSubstr("\n0: [b]\n1!: [a]\n"));
  EXPECT_THAT(report->text, HasSubstr("\"!\" are stalled for more than 5 seconds"));
  EXPECT_THAT(report->text, EndsWith("Horovod will shut down."));
  EXPECT_THAT(report->stalled, ElementsAre(1));
}

TEST(StallInspectorTest, ChecksOncePerWarningTime) {
  StallInspector inspector(Seconds(10), Seconds(25));
  EXPECT_EQ(inspector.NextCheck(AtSecond(0)), AtSecond(10));
  EXPECT_TRUE(inspector.Check({{"a", AtSecond(0), {1}}}, AtSecond(11)));
  EXPECT_EQ(inspector.NextCheck(AtSecond(0)), AtSecond(21));
  EXPECT_TRUE(inspector.Check({{"a", AtSecond(0), {1}}}, AtSecond(21)));
  EXPECT_EQ(inspector.NextCheck(AtSecond(0)), AtSecond(25));
  EXPECT_FALSE(inspector.Check({}, AtSecond(25)));
  EXPECT_EQ(inspector.NextCheck(AtSecond(0)), AtSecond(35));
  EXPECT_EQ(inspector.NextCheck(TimePoint::max()), TimePoint::max());
}

TEST(StallInspectorTest, WhoHasSleptStopsNobodyAtOnce) {
  StallInspector inspector(Seconds(10), Seconds(25));
  const std::vector<WaitingTensor> waiting = {{"a", AtSecond(0), {1}}};
  EXPECT_TRUE(inspector.Check(waiting, AtSecond(10)));
  // Due at 20. Everybody may have been suspended for a quarter of an hour.
  EXPECT_THAT(inspector.Check(waiting, AtSecond(900))->stalled, IsEmpty());
  EXPECT_EQ(inspector.NextCheck(AtSecond(0)), AtSecond(910));
  EXPECT_THAT(inspector.Check(waiting, AtSecond(910))->stalled, IsEmpty());
  EXPECT_THAT(inspector.Check(waiting, AtSecond(920))->stalled, IsEmpty());
  EXPECT_EQ(inspector.NextCheck(AtSecond(0)), AtSecond(925));
  EXPECT_THAT(inspector.Check(waiting, AtSecond(925))->stalled, ElementsAre(1));
}

std::string g_log;

TEST(StallInspectorTest, AShutdownTimeBelowTheWarningTimeIsIgnored) {
  SetLogSink([](LogLevel, const std::string& line) { g_log += line; });
  StallInspector inspector(Seconds(60), Seconds(5));
  SetLogSink(nullptr);
  EXPECT_THAT(g_log, HasSubstr("HOROVOD_STALL_SHUTDOWN_TIME_SECONDS"));
  EXPECT_THAT(inspector.Check({{"a", AtSecond(0), {1}}}, AtSecond(61))->stalled, IsEmpty());
}

}  // namespace
}  // namespace horovodx::negotiation

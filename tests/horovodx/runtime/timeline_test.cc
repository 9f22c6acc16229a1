#include "horovodx/runtime/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "horovodx/base/log.h"
#include "tests/horovodx/runtime/trace_reader.h"

namespace horovodx::runtime {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> g_logged;
void Remember(LogLevel level, const std::string& line) {
  g_logged.push_back((level == LogLevel::kError ? "E " : "W ") + line);
}

class TimelineTest : public testing::Test {
 protected:
  void SetUp() override {
    g_logged.clear();
    SetLogSink(Remember);
  }
  void TearDown() override { SetLogSink(nullptr); }

  static std::string Path(const std::string& name) {
    return testing::TempDir() + "timeline_" + name + ".json";
  }
};

const char* const kHead = R"({"args":{},"name":"process_name","ph":"M","pid":0})";
const char* const kHeadSort =
    R"({"args":{"sort_index":0},"name":"process_sort_index","ph":"M","pid":0})";

TEST_F(TimelineTest, TheLifeOfATensorIsWrittenAsHorovodWritesIt) {
  Timeline timeline;
  ASSERT_TRUE(timeline.Start(Path("life"), /*mark_cycles=*/true));
  timeline.MarkCycle();
  timeline.NegotiateStart("grad", "ALLREDUCE");
  timeline.NegotiateRankReady("grad", 1);
  timeline.NegotiateEnd("grad");
  timeline.OperationStart("grad", "ALLREDUCE");
  timeline.ActivityStart("grad", "MEMCPY_IN_FUSION_BUFFER");
  timeline.ActivityEnd("grad");
  timeline.OperationEnd("grad", ElementType::kFloat32, {2, 3});
  timeline.OperationStart("scalar", "BROADCAST");
  timeline.OperationEnd("scalar", ElementType::kInt64, {});
  timeline.Stop();
  EXPECT_THAT(
      ReadTrace(Path("life")),
      ElementsAre(kHead, kHeadSort, R"({"name":"CYCLE_START","ph":"i","s":"g"})",
                  R"({"args":{"name":"grad"},"name":"process_name","ph":"M","pid":1})",
                  R"({"args":{"sort_index":1},"name":"process_sort_index","ph":"M","pid":1})",
                  R"({"name":"NEGOTIATE_ALLREDUCE","ph":"B","pid":1})",
                  R"({"dur":0,"name":"1","ph":"X","pid":1})",  //
                  R"({"ph":"E","pid":1})", R"({"name":"ALLREDUCE","ph":"B","pid":1})",
                  R"({"name":"MEMCPY_IN_FUSION_BUFFER","ph":"B","pid":1})", R"({"ph":"E","pid":1})",
                  R"({"args":{"dtype":"float32","shape":"[2, 3]"},"ph":"E","pid":1})",
                  R"({"args":{"name":"scalar"},"name":"process_name","ph":"M","pid":2})",
                  R"({"args":{"sort_index":2},"name":"process_sort_index","ph":"M","pid":2})",
                  R"({"name":"BROADCAST","ph":"B","pid":2})",
                  R"({"args":{"dtype":"int64","shape":"[]"},"ph":"E","pid":2})"));
  EXPECT_THAT(g_logged, IsEmpty());
}

TEST_F(TimelineTest, AFailedOperationEndsWhatIsOpenAndHasNoResult) {
  Timeline timeline;
  ASSERT_TRUE(timeline.Start(Path("failed"), false));
  timeline.OperationStart("x", "ALLREDUCE");
  timeline.ActivityStart("x", "GLOO_ALLREDUCE");
  timeline.OperationFailed("x");
  timeline.OperationFailed("x");  // nothing is open any more
  timeline.Stop();
  const auto trace = ReadTrace(Path("failed"));
  ASSERT_THAT(trace, SizeIs(8));
  EXPECT_EQ(trace[6], R"({"ph":"E","pid":1})");
  EXPECT_EQ(trace[7], R"({"ph":"E","pid":1})");
}

TEST_F(TimelineTest, PlannedTensorsShowWhenTheyCameAndInWhichBucketTheyRan) {
  Timeline timeline;
  const TimePoint before = Clock::now();
  ASSERT_TRUE(timeline.Start(Path("planned"), false));
  timeline.Submitted("x", before);  // earlier than the recording: counts as its start
  timeline.OperationStart("x", "ALLREDUCE", {.number = 7, .set = 2});
  timeline.OperationEnd("x", ElementType::kFloat32, {1});
  timeline.Stop();
  const auto trace = ReadTrace(Path("planned"));
  ASSERT_THAT(trace, SizeIs(7));
  EXPECT_EQ(trace[4], R"({"dur":0,"name":"SUBMITTED","ph":"X","pid":1})");
  EXPECT_EQ(trace[5], R"({"args":{"bucket":7,"set":2},"name":"ALLREDUCE","ph":"B","pid":1})");
}

TEST_F(TimelineTest, BucketsShowTheirAlgorithmAndWhatTheScheduleSaid) {
  Timeline timeline;
  const TimePoint before = Clock::now();
  ASSERT_TRUE(timeline.Start(Path("predicted"), false));
  timeline.OperationStart(
      "x", "ALLREDUCE",
      {.number = 7,
       .set = 2,
       .algorithm = "ring",
       .predicted = std::pair(before + Seconds(100.0), before + Seconds(102.5))});
  timeline.OperationEnd("x", ElementType::kFloat32, {1});
  timeline.Stop();
  const auto trace = ReadTrace(Path("predicted"));
  ASSERT_THAT(trace, SizeIs(6));
  EXPECT_THAT(trace[4], HasSubstr(R"("algorithm":"ring","bucket":7)"));
  // On the clock of the recording, which began a moment after `before`.
  const auto at = [&](const std::string& key) {
    const auto found = trace[4].find("\"" + key + "\":");
    return found == std::string::npos ? -1.0 : std::stod(trace[4].substr(found + key.size() + 3));
  };
  EXPECT_GT(at("predicted_start"), 90e6);
  EXPECT_LE(at("predicted_start"), 100e6);
  EXPECT_NEAR(at("predicted_end") - at("predicted_start"), 2.5e6, 1.0);
}

TEST_F(TimelineTest, PlansAndBucketsHaveLanesOfTheirOwn) {
  Timeline timeline;
  ASSERT_TRUE(timeline.Start(Path("plans"), false));
  timeline.PlanStart({.set = 1,
                      .plan = 2,
                      .rule = "optimal",
                      .tensors = 5,
                      .buckets = 2,
                      .predicted = 0.0125,
                      .cost = "1 us + 2 GB/s"});
  const BucketFacts facts{.number = 9,
                          .set = 1,
                          .tensors = 3,
                          .bytes = 12,
                          .algorithm = "ring",
                          .planned = PlanPlace{2, 4, 1}};
  timeline.BucketStart("ALLREDUCE", facts);
  timeline.OperationStart("x", "ALLREDUCE", facts);
  timeline.OperationEnd("x", ElementType::kFloat32, {1});
  timeline.BucketEnd(1);
  timeline.StepEnd({.set = 1, .plan = 2, .step = 4, .took = 0.013, .predicted = 0.0125});
  timeline.BucketStart("ALLGATHER", {.number = 10, .set = 1, .tensors = 1, .bytes = 4});
  timeline.BucketEnd(1);
  timeline.BucketEnd(1);  // nothing is open any more
  timeline.PlanEnd({1, 5, 1, "rank 3: 'x' is \"new\""});
  timeline.Stop();
  auto trace = ReadTrace(Path("plans"));
  ASSERT_THAT(trace, SizeIs(15));
  trace.erase(trace.begin(), trace.begin() + 2);
  EXPECT_THAT(
      trace,
      ElementsAre(
          R"({"args":{"name":"plans of set 1"},"name":"thread_name","ph":"M","pid":0,"tid":2})",
          R"({"args":{"buckets":2,"cost":"1 us + 2 GB/s","plan":2,"predicted_us":12500,)"
          R"("rule":"optimal","set":1,"tensors":5},"name":"PLAN","ph":"B","pid":0,"tid":2})",
          R"({"args":{"name":"buckets of set 1"},"name":"thread_name","ph":"M","pid":0,"tid":3})",
          R"({"args":{"algorithm":"ring","bucket":9,"bytes":12,"index":1,"plan":2,"set":1,)"
          R"("step":4,"tensors":3},"name":"ALLREDUCE, bucket 1","ph":"B","pid":0,"tid":3})",
          R"({"args":{"name":"x"},"name":"process_name","ph":"M","pid":1})",
          R"({"args":{"sort_index":1},"name":"process_sort_index","ph":"M","pid":1})",
          R"({"args":{"algorithm":"ring","bucket":9,"bytes":12,"index":1,"plan":2,"set":1,)"
          R"("step":4,"tensors":3},"name":"ALLREDUCE","ph":"B","pid":1})",
          R"({"args":{"dtype":"float32","shape":"[1]"},"ph":"E","pid":1})",
          R"({"ph":"E","pid":0,"tid":3})",
          R"({"args":{"plan":2,"predicted_us":12500,"step":4,"took_us":13000},"name":"STEP",)"
          R"("ph":"i","pid":0,"s":"t","tid":2})",
          R"({"args":{"bucket":10,"bytes":4,"set":1,"tensors":1},"name":"ALLGATHER, negotiated",)"
          R"("ph":"B","pid":0,"tid":3})",
          R"({"ph":"E","pid":0,"tid":3})",
          R"({"args":{"buckets_of_one_more":1,"steps":5,"why":"rank 3: 'x' is \"new\""},"ph":"E",)"
          R"("pid":0,"tid":2})"));
}

TEST_F(TimelineTest, APlanInForceIsShownWhenRecordingStarts) {
  Timeline timeline;
  timeline.PlanStart({.set = 0, .plan = 1, .rule = "wfbp"});
  timeline.PlanStart({.set = 3, .plan = 7, .rule = "wfbp"});
  timeline.PlanEnd({3, 1, 0, "done"});
  ASSERT_TRUE(timeline.Start(Path("in_force"), false));
  timeline.Stop();
  const auto trace = ReadTrace(Path("in_force"));
  ASSERT_THAT(trace, SizeIs(4));
  EXPECT_THAT(trace[3], AllOf(HasSubstr(R"("plan":1,)"), HasSubstr(R"("name":"PLAN","ph":"B")")));
}

TEST_F(TimelineTest, AnOperationGivenUpEndsAndSaysSo) {
  Timeline timeline;
  ASSERT_TRUE(timeline.Start(Path("given_up"), false));
  timeline.OperationStart("x", "ALLREDUCE");
  timeline.ActivityStart("x", "GLOO_ALLREDUCE");
  timeline.OperationDropped("x");
  timeline.NegotiateStart("x", "ALLREDUCE");
  timeline.Stop();
  const auto trace = ReadTrace(Path("given_up"));
  ASSERT_THAT(trace, SizeIs(9));
  EXPECT_EQ(trace[6], R"({"ph":"E","pid":1})");
  EXPECT_EQ(trace[7], R"({"args":{"dropped":1},"ph":"E","pid":1})");
}

TEST_F(TimelineTest, CyclesAreMarkedOnlyWhenAskedFor) {
  Timeline timeline;
  ASSERT_TRUE(timeline.Start(Path("no_cycles"), false));
  timeline.MarkCycle();
  timeline.Stop();
  EXPECT_THAT(ReadTrace(Path("no_cycles")), ElementsAre(kHead, kHeadSort));
}

TEST_F(TimelineTest, StartingWithAnotherFileSwitchesAndWithTheSameDoesNothing) {
  Timeline timeline;
  EXPECT_FALSE(timeline.active());
  ASSERT_TRUE(timeline.Start(Path("first"), true));
  EXPECT_TRUE(timeline.active());
  timeline.MarkCycle();
  ASSERT_TRUE(timeline.Start(Path("first"), true));  // would truncate it otherwise
  timeline.MarkCycle();
  ASSERT_TRUE(timeline.Start(Path("second"), true));
  EXPECT_THAT(ReadTrace(Path("first")), SizeIs(4));
  timeline.MarkCycle();
  timeline.Stop();
  EXPECT_FALSE(timeline.active());
  timeline.MarkCycle();
  timeline.Stop();
  EXPECT_THAT(ReadTrace(Path("second")), SizeIs(3));
  ASSERT_TRUE(timeline.Start(Path("second"), true));  // stopped before: a new recording
  timeline.Stop();
  EXPECT_THAT(ReadTrace(Path("second")), SizeIs(2));
}

TEST_F(TimelineTest, AFileThatCannotBeOpenedIsAnErrorInTheLog) {
  Timeline timeline;
  EXPECT_FALSE(timeline.Start("/no/such/folder/t.json", false));
  EXPECT_FALSE(timeline.active());
  timeline.MarkCycle();
  EXPECT_THAT(g_logged, ElementsAre(AllOf(HasSubstr("E "), HasSubstr("/no/such/folder/t.json"))));
}

TEST_F(TimelineTest, DroppedEventsAreCountedInTheLog) {
  Timeline timeline(/*queue_limit=*/0);
  ASSERT_TRUE(timeline.Start(Path("dropped"), true));
  for (int i = 0; i < 5; ++i) timeline.MarkCycle();
  timeline.Stop();
  EXPECT_THAT(ReadTrace(Path("dropped")), ElementsAre(kHead, kHeadSort));
  EXPECT_THAT(g_logged, ElementsAre(HasSubstr("W ")));
  EXPECT_THAT(g_logged, ElementsAre(HasSubstr("5 events are missing")));
}

TEST_F(TimelineTest, ThreadsMayRecordWhileFilesAreSwitched) {
  Timeline timeline;
  std::vector<std::thread> threads;
  std::atomic<bool> stop{false};
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      const std::string name = "tensor " + std::to_string(t);
      while (!stop) {
        timeline.OperationStart(name, "ALLREDUCE");
        timeline.OperationEnd(name, ElementType::kFloat16, {1});
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(timeline.Start(Path(i % 2 == 0 ? "even" : "odd"), false));
  }
  stop = true;
  for (auto& thread : threads) thread.join();
  timeline.Stop();
  for (const char* name : {"even", "odd"}) {
    const auto trace = ReadTrace(Path(name));
    ASSERT_GE(trace.size(), 2u);
    EXPECT_EQ(trace.front(), kHead) << name;
  }
}

// A writer that records until it is killed.
[[noreturn]] void RecordForEver(const std::string& path) {
  Timeline timeline;
  if (!timeline.Start(path, true)) ::_exit(1);
  for (int i = 0;; ++i) {
    const std::string name = "tensor \"" + std::to_string(i % 50) + "\"";
    timeline.NegotiateStart(name, "ALLREDUCE");
    timeline.NegotiateEnd(name);
    timeline.PlanStart({.set = i % 3, .plan = 1, .rule = "wfbp"});
    timeline.BucketStart("ALLREDUCE", {.number = i});
    timeline.OperationStart(name, "ALLREDUCE");
    timeline.OperationEnd(name, ElementType::kFloat32, {i});
    timeline.BucketEnd(0);
    timeline.PlanEnd({i % 3, 1, 0, "because"});
  }
}

std::ptrdiff_t LinesOf(const std::string& path) {
  std::ifstream file(path);
  return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
}

TEST_F(TimelineTest, TheFileLoadsAfterItsWriterWasKilled) {
  for (int round = 0; round < 8; ++round) {
    const std::string path = Path("killed");
    ::unlink(path.c_str());
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) RecordForEver(path);
    const Deadline deadline = Deadline::After(Seconds(60));
    while (LinesOf(path) < 500 * (round + 1)) {
      ASSERT_FALSE(deadline.Passed()) << "the writer wrote nothing";
    }
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    const auto trace = ReadTrace(path);
    ASSERT_GT(trace.size(), 100u) << (trace.empty() ? "" : trace.back());
    EXPECT_EQ(trace.front(), kHead);
  }
}

}  // namespace
}  // namespace horovodx::runtime

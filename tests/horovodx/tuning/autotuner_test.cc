#include "horovodx/tuning/autotuner.h"

#include <gtest/gtest.h>

#include <functional>

namespace horovodx::tuning {
namespace {

TimePoint At(double seconds) { return TimePoint() + std::chrono::hours(1) + Seconds(seconds); }

AutotuneOptions Options() {
  AutotuneOptions options;
  options.enabled = true;
  options.warmup_samples = 1;
  options.steps_per_sample = 2;
  options.search.free.schedules = {"fusion", "optimal"};
  return options;
}

constexpr Workload kWork{2, 2000};

struct Training {
  Autotuner tuner{Options()};
  double now = 0.0;
  int steps = 0;

  // Of two tensors of 1000 bytes.
  bool Step(double seconds) {
    ++steps;
    const bool changed = tuner.StepBegan(At(now));
    tuner.Add(1000);
    tuner.Add(1000);
    now += seconds;
    return changed;
  }
  void RunToTheEnd(const std::function<double(const Setting&)>& seconds) {
    tuner.PlanStarts(kWork);
    for (int i = 0; i < 5000 && !tuner.done(); ++i) {
      if (Step(seconds(tuner.current()))) tuner.PlanStarts(kWork);
    }
  }
};

double OptimalIsFaster(const Setting& s) { return s.schedule == "optimal" ? 0.5e-3 : 1e-3; }

TEST(AutotunerTest, TheFasterSettingStays) {
  Training training;
  training.RunToTheEnd(OptimalIsFaster);
  ASSERT_TRUE(training.tuner.done());
  EXPECT_EQ(training.tuner.current().schedule, "optimal");
  const auto scores = training.tuner.TakeScores();
  ASSERT_GE(scores.size(), 3u);
  EXPECT_NEAR(scores.front().score, 2.0, 0.01);  // 2000 bytes in 1000 microseconds
  EXPECT_EQ(scores.back().setting.schedule, "optimal");
  EXPECT_NEAR(scores.back().score, 4.0, 0.01);
  EXPECT_TRUE(training.tuner.TakeScores().empty());
}

TEST(AutotunerTest, ASampleLastsSoManyStepsAndAScoreFiveSamples) {
  Training training;
  training.tuner.PlanStarts(kWork);
  int first_change = 0;
  while (first_change == 0 && training.steps < 1000) {
    if (training.Step(1e-3)) first_change = training.steps;
  }
  // One score is thrown away, then one counts: 2 scores of 5 samples of 2 steps; the step after
  // them shows how long the last one took.
  EXPECT_EQ(first_change, 21);
}

TEST(AutotunerTest, NothingCountsWithoutAPlanByTheSetting) {
  Training training;
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(training.Step(1e-3));
  EXPECT_TRUE(training.tuner.TakeScores().empty());
  training.tuner.PlanStarts(kWork);
  while (!training.Step(1e-3)) {
  }
  EXPECT_EQ(training.tuner.TakeScores().size(), 1u);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(training.Step(1e-6));
  EXPECT_EQ(training.tuner.TakeScores().size(), 0u);
}

TEST(AutotunerTest, APlanMadeAnewBeginsTheScoreAnew) {
  Training training;
  for (int i = 0; i < 50; ++i) {
    training.tuner.PlanStarts(kWork);
    for (int step = 0; step < 10; ++step) EXPECT_FALSE(training.Step(1e-3));
  }
  EXPECT_TRUE(training.tuner.TakeScores().empty());
}

TEST(AutotunerTest, AnotherWorkloadBeginsAnewAndTheSameDoesNot) {
  Training training;
  training.RunToTheEnd(OptimalIsFaster);
  training.tuner.PlanStarts(kWork);
  EXPECT_TRUE(training.tuner.done());
  EXPECT_EQ(training.tuner.current().schedule, "optimal");
  training.tuner.PlanStarts({3, 3000});
  EXPECT_FALSE(training.tuner.done());
  EXPECT_EQ(training.tuner.current().schedule, "fusion");
}

TEST(AutotunerTest, TellsATrialOfOtherLinksFromWhatIsGivenAndWhatWasFound) {
  AutotuneOptions options = Options();
  options.search.free.schedules.clear();
  options.search.free.segment = true;
  Training training;
  training.tuner = Autotuner(options);
  EXPECT_FALSE(training.tuner.tries_links());
  bool tried = false;
  training.RunToTheEnd([&](const Setting& s) {
    EXPECT_EQ(training.tuner.tries_links(), s.segment != 0);
    tried = tried || s.segment != 0;
    return s.segment == 1 << 20 ? 0.5e-3 : 1e-3;
  });
  EXPECT_TRUE(tried);
  ASSERT_TRUE(training.tuner.done());
  EXPECT_EQ(training.tuner.current().segment, 1u << 20);
  EXPECT_FALSE(training.tuner.tries_links()) << "it is what stays";
}

TEST(AutotunerTest, LateStepsDoNotMatter) {
  Training training;
  training.RunToTheEnd([&](const Setting& s) {
    return OptimalIsFaster(s) * (training.steps % 17 == 0 ? 20.0 : 1.0);
  });
  EXPECT_EQ(training.tuner.current().schedule, "optimal");
}

}  // namespace
}  // namespace horovodx::tuning

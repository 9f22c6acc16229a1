#include "horovodx/tuning/search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <set>

namespace horovodx::tuning {
namespace {

using Surface = std::function<double(const Setting&)>;

struct Outcome {
  Setting best;
  double true_score = 0.0;
  std::size_t tried = 0;
};

Outcome SearchOn(const SearchOptions& options, const Surface& surface, double noise, int seed = 1) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::normal_distribution<double> wrong(0.0, noise);
  Search search(options);
  for (int i = 0; i < 1000 && !search.done(); ++i) {
    search.Tell(surface(search.current()) * (1.0 + wrong(random)));
  }
  EXPECT_TRUE(search.done());
  return {search.current(), surface(search.current()), search.tried().size()};
}

double MiB(const Setting& s) { return static_cast<double>(s.fusion_threshold) / (1 << 20); }

// Best at 10 MiB without a window; `optimal` is a tenth better everywhere.
double Hill(const Setting& s) {
  const double away = std::log2((MiB(s) + 1.0) / 11.0);
  return 1000.0 * (s.schedule == "optimal" ? 1.1 : 1.0) /
         (1.0 + 0.2 * away * away + 0.05 * s.cycle_time_ms);
}

SearchOptions AllFree() {
  SearchOptions options;
  options.free = {{"fusion", "optimal"}, false, false, true, true};
  options.noise = 0.1;
  return options;
}

TEST(SearchTest, FindsTheTopOfAHill) {
  const Outcome found = SearchOn(AllFree(), Hill, 0.0);
  EXPECT_EQ(found.best.schedule, "optimal");
  EXPECT_GT(found.true_score, 0.97 * 1100.0)
      << MiB(found.best) << " MiB, window " << found.best.cycle_time_ms << " ms";
}

TEST(SearchTest, FindsItUnderNoiseToo) {
  double sum = 0.0;
  for (int seed = 0; seed < 20; ++seed) {
    SearchOptions options = AllFree();
    options.noise = 0.8;
    sum += SearchOn(options, Hill, 0.03, seed).true_score;
  }
  EXPECT_GT(sum / 20, 0.9 * 1100.0);
}

TEST(SearchTest, WhereNothingMattersTheSettingGivenStays) {
  for (int seed = 0; seed < 10; ++seed) {
    const auto options = AllFree();
    const Outcome found = SearchOn(
        options, [](const Setting&) { return 500.0; }, 0.0, seed);
    EXPECT_EQ(found.best, options.first);
    // And there is no reason to go on for long: the starts, then the final.
    EXPECT_LT(found.tried, 30u);
  }
}

TEST(SearchTest, TriesNoMoreThanItMay) {
  SearchOptions options = AllFree();
  options.max_samples = 6;
  const Outcome found = SearchOn(options, Hill, 0.2, 3);
  EXPECT_LE(found.tried, 2u * 7u + 4u * 3u);
}

TEST(SearchTest, WhatIsFixedStays) {
  SearchOptions options;
  options.first.fusion_threshold = 7 << 20;
  options.first.cycle_time_ms = 3.5;
  options.first.schedule = "mgwfbp";
  options.free = {{}, true, true, false, false};
  Search search(options);
  std::set<std::pair<bool, bool>> flags;
  while (!search.done()) {
    const Setting& s = search.current();
    EXPECT_EQ(s.fusion_threshold, 7u << 20);
    EXPECT_EQ(s.cycle_time_ms, 3.5);
    EXPECT_EQ(s.schedule, "mgwfbp");
    flags.insert({s.hierarchical_allreduce, s.torus_allreduce});
    search.Tell(s.torus_allreduce ? 2.0 : 1.0);
  }
  EXPECT_EQ(flags.size(), 3u) << "both at once make no sense";
  EXPECT_TRUE(search.current().torus_allreduce);
  EXPECT_DOUBLE_EQ(search.best_score(), 2.0);
}

TEST(SearchTest, WithNothingFreeItIsDoneAtOnce) {
  SearchOptions options;
  options.free.schedules = {"fusion"};
  EXPECT_TRUE(Search(options).done());
}

TEST(SearchTest, ValuesStayInTheirRanges) {
  Search search(AllFree());
  for (int i = 0; i < 300 && !search.done(); ++i) {
    const Setting s = search.current();
    EXPECT_LE(s.fusion_threshold, 128u << 20);
    EXPECT_GE(s.cycle_time_ms, 0.0);
    EXPECT_LE(s.cycle_time_ms, 20.0);
    search.Tell(1.0 + 1e-3 * i);
  }
}

}  // namespace
}  // namespace horovodx::tuning

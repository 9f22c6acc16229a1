#include "horovodx/tuning/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <set>

#include "horovodx/collectives/segment.h"
#include "horovodx/tuning/csv.h"

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

// Best at 10 MiB; `optimal` is a tenth better everywhere.
double Hill(const Setting& s) {
  const double away = std::log2((MiB(s) + 1.0) / 11.0);
  return 1000.0 * (s.schedule == "optimal" ? 1.1 : 1.0) / (1.0 + 0.2 * away * away);
}

// The same on a network with long ways: a message costs something besides its bytes, a long one
// falls out of the cache, and a socket alone carries little; but several share a message only if it
// is long. Best with 1 MiB and all four sockets.
double LongWays(const Setting& s) {
  const double segment = (s.segment == 0 ? 256 << 10 : s.segment) / 1048576.0;
  const double streams = std::min<double>(s.streams, std::max(1.0, 4.0 * segment));
  const double times = 0.6 + 0.4 / streams + 0.05 / segment + (segment > 1.0 ? 0.1 : 0.0);
  return Hill(s) * 0.75 / times;
}
constexpr double kMostOfLongWays = 1100.0;

SearchOptions AllFree() {
  SearchOptions options;
  options.first.streams = 1;
  options.free.schedules = {"fusion", "optimal"};
  options.free.fusion_threshold = true;
  options.free.segment = true;
  options.free.most_streams = 4;
  options.noise = 0.1;
  return options;
}

TEST(SearchTest, FindsTheTopOfAHill) {
  const Outcome found = SearchOn(AllFree(), Hill, 0.0);
  EXPECT_EQ(found.best.schedule, "optimal");
  EXPECT_GT(found.true_score, 0.97 * 1100.0) << MiB(found.best) << " MiB";
}

TEST(SearchTest, FindsSegmentsAndStreamsThatBelongTogether) {
  const SearchOptions options = AllFree();
  const Outcome found = SearchOn(options, LongWays, 0.0);
  EXPECT_GT(found.best.segment, 256u << 10);
  EXPECT_GT(found.best.streams, 1);
  EXPECT_GT(found.true_score, 0.93 * kMostOfLongWays)
      << MiB(found.best) << " MiB, " << RestInWords(found.best);
  EXPECT_LT(LongWays(options.first), 0.4 * kMostOfLongWays) << "what was given";
}

TEST(SearchTest, FindsThemUnderNoiseToo) {
  double sum = 0.0;
  for (int seed = 0; seed < 20; ++seed) {
    SearchOptions options = AllFree();
    options.noise = 0.8;
    sum += SearchOn(options, LongWays, 0.03, seed).true_score;
  }
  EXPECT_GT(sum / 20, 0.85 * kMostOfLongWays);
}

TEST(SearchTest, SegmentsAndStreamsAloneMayBeFree) {
  SearchOptions options = AllFree();
  options.free.schedules.clear();
  options.free.fusion_threshold = false;
  options.first.fusion_threshold = 10 << 20;
  const Outcome found = SearchOn(options, LongWays, 0.0);
  EXPECT_EQ(found.best.fusion_threshold, 10u << 20);
  EXPECT_EQ(found.best.segment, 1u << 20);
  EXPECT_EQ(found.best.streams, 4);
  EXPECT_LE(found.tried, 21u + 12u);
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
  options.first.segment = 128 << 10;
  options.first.streams = 3;
  options.free.hierarchical_allreduce = true;
  options.free.torus_allreduce = true;
  Search search(options);
  std::set<std::pair<bool, bool>> flags;
  while (!search.done()) {
    const Setting& s = search.current();
    EXPECT_EQ(s.fusion_threshold, 7u << 20);
    EXPECT_EQ(s.cycle_time_ms, 3.5);
    EXPECT_EQ(s.schedule, "mgwfbp");
    EXPECT_EQ(s.segment, 128u << 10);
    EXPECT_EQ(s.streams, 3);
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
  for (const int most_streams : {1, 2, 3, 4, 7, 64}) {
    SearchOptions options = AllFree();
    options.free.most_streams = most_streams;
    Search search(options);
    for (int i = 0; i < 300 && !search.done(); ++i) {
      const Setting s = search.current();
      EXPECT_LE(s.fusion_threshold, 128u << 20);
      EXPECT_TRUE(collectives::IsSegment(s.segment)) << s.segment;
      EXPECT_GE(s.streams, 1);
      EXPECT_LE(s.streams, most_streams);
      EXPECT_EQ(s.cycle_time_ms, 0.0);
      search.Tell(1.0 + 1e-3 * i);
    }
  }
}

}  // namespace
}  // namespace horovodx::tuning

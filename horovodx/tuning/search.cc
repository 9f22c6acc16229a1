#include "horovodx/tuning/search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "horovodx/collectives/segment.h"

namespace horovodx::tuning {
namespace {

using collectives::kLeastSegment;
using collectives::kMostSegment;

constexpr double kMostThreshold = 64.0 * (1 << 20);
constexpr double kGrain = 64 << 10;                 // bytes of a threshold
constexpr std::uint32_t kUsualSegment = 256 << 10;  // about what algorithms have by themselves
constexpr double kLeastImprovement = 0.01;          // of the spread
constexpr double kWorthIt = 1.005;                  // times the score of the setting given
constexpr double kNothingMore = 0.002;              // of the best score
constexpr int kGuesses = 400;

// To begin with.
struct Start {
  std::uint64_t threshold;
  std::uint32_t segment;
  int streams;
};
constexpr Start kStarts[] = {{4u << 20, 1u << 20, 1},
                             {32u << 20, 512u << 10, 2},
                             {16u << 20, 128u << 10, 1},
                             {8u << 20, 1u << 20, 4}};

// Small values are told apart more finely.
double Unfold(double share, double most) { return most * share * share; }
double Fold(double value, double most) { return std::sqrt(std::clamp(value / most, 0.0, 1.0)); }

// Powers of two between `least` and `most`, evenly spread.
double DoublingsFrom(double least, double value) { return std::log2(value / least); }
std::uint32_t PowerAt(double share, double least, double most) {
  return static_cast<std::uint32_t>(least)
         << std::lround(share * std::floor(DoublingsFrom(least, most)));
}
double ShareOf(double value, double least, double most) {
  const double all = std::max(1.0, std::floor(DoublingsFrom(least, most)));
  return std::clamp(DoublingsFrom(least, std::max(value, least)) / all, 0.0, 1.0);
}

std::vector<bool> Values(bool free, bool first) {
  return free ? std::vector<bool>{false, true} : std::vector<bool>{first};
}

std::vector<Setting> Combinations(const Setting& first, const Freedom& free) {
  std::vector<Setting> all = {first};
  std::vector<std::string> schedules = {first.schedule};
  if (!free.schedules.empty()) schedules = free.schedules;
  for (const std::string& schedule : schedules) {
    for (const bool hierarchical :
         Values(free.hierarchical_allreduce, first.hierarchical_allreduce)) {
      for (const bool torus : Values(free.torus_allreduce, first.torus_allreduce)) {
        if (torus && hierarchical && (free.torus_allreduce || free.hierarchical_allreduce))
          continue;
        Setting setting = first;
        setting.schedule = schedule;
        setting.hierarchical_allreduce = hierarchical;
        setting.torus_allreduce = torus;
        if (std::find(all.begin(), all.end(), setting) == all.end()) all.push_back(setting);
      }
    }
  }
  return all;
}

}  // namespace

Search::Search(SearchOptions options)
    : options_(std::move(options)),
      combinations_(Combinations(options_.first, options_.free)),
      current_(options_.first) {
  if (!options_.free.any()) done_ = true;
}

Setting Search::SettingAt(const Place& place) const {
  Setting setting = combinations_[combination_];
  if (options_.free.fusion_threshold) {
    const double bytes = Unfold(place[0], kMostThreshold);
    setting.fusion_threshold = static_cast<std::uint64_t>(kGrain) *
                               static_cast<std::uint64_t>(std::llround(bytes / kGrain));
  }
  if (options_.free.segment) setting.segment = PowerAt(place[1], kLeastSegment, kMostSegment);
  if (options_.free.most_streams > 1) {
    setting.streams = static_cast<int>(PowerAt(place[2], 1, options_.free.most_streams));
  }
  return setting;
}

Place Search::PlaceOf(const Setting& setting) const {
  const Freedom& free = options_.free;
  Place place{};
  if (free.fusion_threshold) {
    place[0] = Fold(static_cast<double>(setting.fusion_threshold), kMostThreshold);
  }
  if (free.segment) {
    const std::uint32_t segment = setting.segment == 0 ? kUsualSegment : setting.segment;
    place[1] = ShareOf(segment, kLeastSegment, kMostSegment);
  }
  if (free.most_streams > 1) {
    place[2] = setting.streams == 0 ? 1.0 : ShareOf(setting.streams, 1, free.most_streams);
  }
  return place;
}

void Search::Tell(double score) {
  if (done_) return;
  tried_.push_back({current_, score});
  if (!finalists_.empty()) {
    NextOfFinal();
    return;
  }
  places_.push_back(PlaceOf(current_));
  scores_.push_back(score);
  NextOfCombination();
}

void Search::NextOfCombination() {
  Place place;
  if (Continuous() && NextPlace(place)) {
    current_ = SettingAt(place);
    return;
  }
  if (++combination_ < combinations_.size()) {
    places_.clear();
    scores_.clear();
    current_ = combinations_[combination_];
    return;
  }
  BeginFinal();
}

bool Search::NextPlace(Place& place) {
  const std::size_t count = places_.size();  // the first is the setting given
  if (count > static_cast<std::size_t>(options_.max_samples)) return false;
  if (count <= std::size(kStarts)) {
    Setting start;
    start.fusion_threshold = kStarts[count - 1].threshold;
    start.segment = kStarts[count - 1].segment;
    start.streams = kStarts[count - 1].streams;
    place = PlaceOf(start);
    return true;
  }
  const GaussianProcess process(places_, scores_, options_.noise);
  std::uniform_real_distribution<double> anywhere(0.0, 1.0);
  double most = -1.0;
  for (int i = 0; i < kGuesses; ++i) {
    Place guess;
    for (double& share : guess) share = anywhere(random_);
    guess = PlaceOf(SettingAt(guess));  // where there is something to try
    const double gain = process.ExpectedImprovement(guess, kLeastImprovement);
    if (gain <= most) continue;
    most = gain;
    place = guess;
  }
  const double best = *std::max_element(scores_.begin(), scores_.end());
  return most > kNothingMore * std::abs(best);
}

void Search::BeginFinal() {
  std::vector<Tried> order = tried_;
  std::stable_sort(order.begin(), order.end(),
                   [](const Tried& a, const Tried& b) { return a.score > b.score; });
  finalists_ = {options_.first};
  for (const Tried& tried : order) {
    if (finalists_.size() > kFinalists) break;
    if (std::find(finalists_.begin(), finalists_.end(), tried.setting) == finalists_.end()) {
      finalists_.push_back(tried.setting);
    }
  }
  turn_ = 0;
  current_ = finalists_[0];
}

void Search::NextOfFinal() {
  if (++turn_ < finalists_.size() * kFinalTurns) {
    current_ = finalists_[turn_ % finalists_.size()];
    return;
  }
  End();
}

// What led to the final was the luckiest of many; only the final itself is fair.
void Search::End() {
  const std::vector<Tried> final_scores(
      tried_.end() - static_cast<std::ptrdiff_t>(finalists_.size() * kFinalTurns), tried_.end());
  const auto mean = [&](const Setting& setting) {
    double sum = 0.0;
    for (const Tried& tried : final_scores) sum += tried.setting == setting ? tried.score : 0.0;
    return sum / kFinalTurns;
  };
  current_ = options_.first;
  best_score_ = mean(current_);
  const double to_beat = kWorthIt * best_score_;
  for (const Setting& setting : finalists_) {
    const double score = mean(setting);
    if (score <= std::max(best_score_, to_beat)) continue;
    best_score_ = score;
    current_ = setting;
  }
  done_ = true;
}

}  // namespace horovodx::tuning

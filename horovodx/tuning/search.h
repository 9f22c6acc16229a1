// Search: which setting to try next, by the scores of those tried. Pure; higher scores are better.
//
// For each combination of schedule and flags a Bayesian search over threshold, segment and streams
// together (long segments are what several streams need to be of use): the setting given, four
// corners of experience, then wherever a Gaussian process expects most, until it expects nothing
// worth having. Scores are noisy, so the best few are then run off against each
// other and against the setting given, in turns; and that one stays unless another is clearly
// better.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "horovodx/tuning/gaussian_process.h"
#include "horovodx/tuning/setting.h"

namespace horovodx::tuning {

struct SearchOptions {
  Setting first;
  Freedom free;
  int max_samples = 20;  // settings of one combination, besides the first
  double noise = 0.8;    // of a score, in units of the spread of all scores of a combination
};

struct Tried {
  Setting setting;
  double score = 0.0;
};

class Search {
 public:
  explicit Search(SearchOptions options);

  // What to run now; when done, the best one.
  const Setting& current() const { return current_; }
  // How current() did. Moves on to the next.
  void Tell(double score);
  bool done() const { return done_; }
  // Of the best one, when done: the mean of its scores in the final.
  double best_score() const { return best_score_; }
  const std::vector<Tried>& tried() const { return tried_; }

 private:
  static constexpr int kFinalists = 3;
  static constexpr int kFinalTurns = 3;

  bool Continuous() const {
    const Freedom& free = options_.free;
    return free.fusion_threshold || free.segment || free.most_streams > 1;
  }
  Setting SettingAt(const Place& place) const;
  Place PlaceOf(const Setting& setting) const;
  // False when this combination promises nothing more.
  bool NextPlace(Place& place);
  void NextOfCombination();
  void BeginFinal();
  void NextOfFinal();
  void End();

  SearchOptions options_;
  std::vector<Setting> combinations_;  // with the first setting's threshold, segment and streams
  std::size_t combination_ = 0;
  std::vector<Place> places_;  // tried in this combination
  std::vector<double> scores_;
  std::vector<Setting> finalists_;
  std::size_t turn_ = 0;  // of the final
  std::vector<Tried> tried_;
  Setting current_;
  bool done_ = false;
  double best_score_ = 0.0;
  std::mt19937_64 random_{20};  // the same on every run
};

}  // namespace horovodx::tuning

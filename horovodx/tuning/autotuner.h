// Autotuner: turns steps that ran into scores, and scores into the next setting. Pure.
//
// Only steps that follow a plan count: a setting is in force from the start of the plan that was
// made by it. A sample is `steps_per_sample` steps; its score is bytes allreduced a microsecond;
// the median of five samples is the score of a setting. The first `warmup_samples` scores are
// thrown away.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "horovodx/base/clock.h"
#include "horovodx/tuning/search.h"

namespace horovodx::tuning {

struct AutotuneOptions {
  bool enabled = false;
  int warmup_samples = 3;
  int steps_per_sample = 10;
  SearchOptions search;
};

// A step's worth of work, as far as tuning is concerned.
struct Workload {
  std::uint64_t tensors = 0;
  std::uint64_t bytes = 0;

  bool operator==(const Workload&) const = default;
};

class Autotuner {
 public:
  explicit Autotuner(AutotuneOptions options);

  const Setting& current() const { return search_.current(); }
  bool done() const { return search_.done(); }
  // current() is a trial of other segments or streams than those given.
  bool tries_links() const;

  // A plan is about to be made, for this workload and by current(), as it is after this call. If
  // the workload is another one than before, all begins anew with the first setting.
  void PlanStarts(const Workload& workload);
  // A step of the plan began. True if that ended a score and current() is another one now: nothing
  // counts any more until there is a plan by it.
  bool StepBegan(TimePoint at);
  // An allreduce of the step has run.
  void Add(std::uint64_t bytes) { bytes_ += bytes; }

  // Settings with their scores since the last call; the best one once more when all is done.
  std::vector<Tried> TakeScores() { return std::exchange(scores_, {}); }

 private:
  static constexpr std::size_t kSamples = 5;

  bool EndScore();

  AutotuneOptions options_;
  Search search_;
  int warm_up_left_;
  std::optional<Workload> workload_;
  bool in_force_ = false;
  int steps_ = -1;  // of the sample under way; -1: none has begun
  TimePoint start_;
  std::uint64_t bytes_ = 0;
  std::vector<double> samples_;  // of the setting in force
  std::vector<Tried> scores_;
};

}  // namespace horovodx::tuning

#include "horovodx/tuning/autotuner.h"

#include <algorithm>

namespace horovodx::tuning {

Autotuner::Autotuner(AutotuneOptions options)
    : options_(std::move(options)),
      search_(options_.search),
      warm_up_left_(options_.warmup_samples) {}

bool Autotuner::tries_links() const {
  const Setting& first = options_.search.first;
  return !done() && (current().segment != first.segment || current().streams != first.streams);
}

void Autotuner::PlanStarts(const Workload& workload) {
  if (workload_.has_value() && !(*workload_ == workload)) {
    search_ = Search(options_.search);
    warm_up_left_ = options_.warmup_samples;
  }
  workload_ = workload;
  in_force_ = true;
  steps_ = -1;
  samples_.clear();
}

bool Autotuner::StepBegan(TimePoint at) {
  if (done() || !in_force_) return false;
  if (++steps_ > 0 && steps_ < options_.steps_per_sample) return false;
  const bool ended = steps_ > 0;
  if (ended) {
    const double microseconds = std::max(1e6 * ToSeconds(at - start_), 1.0);
    samples_.push_back(static_cast<double>(bytes_) / microseconds);
  }
  steps_ = 0;
  start_ = at;
  bytes_ = 0;
  return ended && samples_.size() == kSamples && EndScore();
}

bool Autotuner::EndScore() {
  std::nth_element(samples_.begin(), samples_.begin() + kSamples / 2, samples_.end());
  const double score = samples_[kSamples / 2];
  samples_.clear();
  if (warm_up_left_ > 0) {
    --warm_up_left_;
    return false;
  }
  const Setting before = current();
  scores_.push_back({before, score});
  search_.Tell(score);
  if (done()) scores_.push_back({current(), search_.best_score()});
  in_force_ = before == current();
  return !in_force_;
}

}  // namespace horovodx::tuning

#include "horovodx/negotiation/algorithm_choice.h"

#include <algorithm>
#include <limits>
#include <set>

#include "horovodx/negotiation/shape.h"

namespace horovodx::negotiation {
namespace {

using collectives::Selected;
using collectives::Why;

constexpr std::uint64_t kRarestLook = 512;  // rounds between two looks, times patience

bool ByTime(Why why) { return why == Why::kMeasured || why == Why::kPredicted; }

std::uint8_t NumberOf(collectives::AllreduceAlgorithm algorithm) {
  return static_cast<std::uint8_t>(algorithm);
}

}  // namespace

AlgorithmChoice::AlgorithmChoice(const collectives::SelectInput& team, bool measured)
    : team_(team), may_(measured && team.ranks > 1 && !team.deterministic), costs_(team) {}

void AlgorithmChoice::Add(Algorithm algorithm, std::uint64_t bytes, double seconds) {
  if (may_ && bytes > 0) costs_.Add(algorithm, bytes, seconds);
}

collectives::SelectInput AlgorithmChoice::At(std::uint64_t bytes) const {
  collectives::SelectInput input = team_;
  input.bytes = static_cast<std::size_t>(bytes);
  input.costs = fits_ > 0 ? &fitted_ : nullptr;
  return input;
}

Selected AlgorithmChoice::Choose(std::uint64_t bytes) {
  const auto [it, is_new] = chosen_.try_emplace(bytes);
  if (is_new) it->second = collectives::SelectAllreduceAndSay(At(bytes));
  return it->second;
}

bool AlgorithmChoice::IsTrial(Algorithm algorithm, std::uint64_t bytes) {
  return active() && Choose(bytes).algorithm != algorithm;
}

std::vector<AlgorithmChoice::Algorithm> AlgorithmChoice::ToTry(std::uint64_t bytes) {
  std::vector<Algorithm> some;
  const Selected chosen = Choose(bytes);
  if (fits_ == 0 || !ByTime(chosen.why)) return some;
  const collectives::SelectInput input = At(bytes);
  const auto eligible = collectives::EligibleAllreduces(input);
  double least = std::numeric_limits<double>::infinity();
  for (const Algorithm algorithm : eligible) {
    least = std::min(least, PredictAllreduce(algorithm, input, fitted_).seconds);
  }
  for (const Algorithm algorithm : eligible) {
    if (algorithm == chosen.algorithm) continue;
    const std::uint64_t known = std::max(costs_.SamplesLike(algorithm, bytes),
                                         tried_[{schedule::SizeClassOf(bytes), algorithm}]);
    const collectives::Prediction predicted = PredictAllreduce(algorithm, input, fitted_);
    const double most = (predicted.away <= kLike ? kAsGood : kPromising) * least;
    if (known < kEnough && predicted.seconds <= most) some.push_back(algorithm);
  }
  return some;
}

void AlgorithmChoice::FitIfDue() {
  if (costs_.samples() >= fitted_samples_ + std::max<std::uint64_t>(8, fitted_samples_ / 2)) Fit();
}

void AlgorithmChoice::Fit() {
  if (costs_.samples() == fitted_samples_) return;
  fitted_ = costs_.Fit();
  fitted_samples_ = costs_.samples();
  chosen_.clear();
  ++fits_;
}

void AlgorithmChoice::ForRun(std::vector<Bucket>& buckets) {
  if (!active()) return;
  FitIfDue();
  for (Bucket& bucket : buckets) {
    if (bucket.kind != Kind::kAllreduce) continue;
    const std::uint64_t bytes = BytesMoved(bucket);
    Algorithm algorithm = Choose(bytes).algorithm;
    const int size = schedule::SizeClassOf(bytes);
    const bool usual = bytes > 0 && ++seen_[size] > kUsual;
    if (const auto some = usual ? ToTry(bytes) : std::vector<Algorithm>(); !some.empty()) {
      algorithm = some.front();
      ++tried_[{size, algorithm}];
    }
    bucket.algorithms = {NumberOf(algorithm)};
  }
}

void AlgorithmChoice::ForPlan(std::vector<Bucket>& buckets, bool may_try) {
  planned_.clear();
  trial_rounds_ = 0;
  if (!active()) return;
  Fit();
  std::set<int> trying;
  for (Bucket& bucket : buckets) {
    if (bucket.kind != Kind::kAllreduce) continue;
    const std::uint64_t bytes = BytesMoved(bucket);
    const Algorithm algorithm = Choose(bytes).algorithm;
    const int size = schedule::SizeClassOf(bytes);
    bucket.algorithms.clear();
    if (may_try && trying.insert(size).second) {  // one bucket of a size is enough
      for (const Algorithm other : ToTry(bytes)) {
        bucket.algorithms.push_back(NumberOf(other));
        ++tried_[{size, other}];
      }
    }
    trial_rounds_ = std::max<std::uint64_t>(trial_rounds_, bucket.algorithms.size());
    bucket.algorithms.push_back(NumberOf(algorithm));
    planned_.emplace_back(bytes, algorithm);
  }
  next_look_ = trial_rounds_ > 0 ? trial_rounds_ : 2 + 8 * patience_;
}

bool AlgorithmChoice::RoundEnded(std::uint64_t round) {
  if (planned_.empty() || round + 1 < next_look_) return false;
  next_look_ += std::min(next_look_, kRarestLook * patience_);
  Fit();
  double as_planned = 0.0;
  double anew = 0.0;
  for (const auto& [bytes, algorithm] : planned_) {
    as_planned += PredictAllreduce(algorithm, At(bytes), fitted_).seconds;
    anew += Choose(bytes).seconds;
  }
  if (anew >= kWorthAPlan * as_planned) return false;
  patience_ = std::min<std::uint64_t>(2 * patience_, 64);
  return true;
}

double AlgorithmChoice::Expected(std::uint64_t bytes) const {
  return collectives::SelectAllreduceAndSay(At(bytes)).seconds;
}

std::vector<collectives::SelectionRow> AlgorithmChoice::Table() const {
  return collectives::SelectionTable(At(0));
}

}  // namespace horovodx::negotiation

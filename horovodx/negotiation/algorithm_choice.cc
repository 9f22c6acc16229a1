#include "horovodx/negotiation/algorithm_choice.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <set>
#include <utility>

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

AlgorithmChoice::AlgorithmChoice(const collectives::SelectInput& team, bool measured,
                                 transport::NativeKinds native)
    : team_(team),
      may_(measured && team.ranks > 1 && !team.deterministic),
      native_(std::move(native)),
      costs_(team) {}

bool AlgorithmChoice::IsNative(ElementType type, ReduceOp op) const {
  return native_.contains({type, op == ReduceOp::kAverage ? ReduceOp::kSum : op});
}

AlgorithmChoice::Case AlgorithmChoice::CaseOf(const Bucket& bucket) const {
  return {BytesMoved(bucket), IsNative(bucket.type, bucket.op)};
}

void AlgorithmChoice::Add(Algorithm algorithm, std::uint64_t bytes, double seconds) {
  if (!may_ || bytes == 0) return;
  costs_.Add(algorithm, bytes, seconds);
  // What is hardly known is known twice as well now.
  hardly_known_ |= costs_.SamplesLike(algorithm, bytes) <= kEnough;
}

collectives::SelectInput AlgorithmChoice::At(const Case& it) const {
  collectives::SelectInput input = team_;
  input.bytes = static_cast<std::size_t>(it.bytes);
  input.native = it.native;
  input.costs = fits_ > 0 ? &fitted_ : nullptr;
  return input;
}

Selected AlgorithmChoice::Choose(const Case& it) {
  const auto [chosen, is_new] = chosen_.try_emplace(it);
  if (is_new) chosen->second = collectives::SelectAllreduceAndSay(At(it));
  return chosen->second;
}

AlgorithmChoice::Algorithm AlgorithmChoice::Usual(const Case& it) const {
  collectives::SelectInput input = At(it);
  input.costs = nullptr;
  return collectives::SelectAllreduce(input);
}

bool AlgorithmChoice::IsTrial(Algorithm algorithm, std::uint64_t bytes, ElementType type,
                              ReduceOp op) {
  return active() && Choose({bytes, IsNative(type, op)}).algorithm != algorithm;
}

std::vector<AlgorithmChoice::Algorithm> AlgorithmChoice::ToTry(const Case& it) {
  std::vector<Algorithm> some;
  const Selected chosen = Choose(it);
  if (fits_ == 0 || !ByTime(chosen.why)) return some;
  if (chosen.seconds < 2 * collectives::kNoiseSeconds) return some;  // too little to gain
  const collectives::SelectInput input = At(it);
  const auto eligible = collectives::EligibleAllreduces(input);
  double least = std::numeric_limits<double>::infinity();
  for (const Algorithm algorithm : eligible) {
    least = std::min(least, PredictAllreduce(algorithm, input, fitted_).seconds);
  }
  const Algorithm usual = Usual(it);
  for (const Algorithm algorithm : eligible) {
    if (algorithm == chosen.algorithm) continue;
    const std::uint64_t known = std::max(costs_.SamplesLike(algorithm, it.bytes),
                                         tried_[{schedule::SizeClassOf(it.bytes), algorithm}]);
    const collectives::Prediction predicted = PredictAllreduce(algorithm, input, fitted_);
    // What the rules say ran first, and the first of a size is slow: it is not judged by that
    // alone.
    const bool judged = predicted.away <= kLike && algorithm != usual;
    const double most = (judged ? kAsGood : kPromising) * least;
    if (known < kEnough && predicted.seconds <= most) some.push_back(algorithm);
  }
  return some;
}

// What the rules say ran first, while links were being made and ranks came one after the other: a
// small allreduce took many times what it takes in a plan. Before another one takes its place for
// good it gets a chance to run as that one does; and again, ever more rarely.
std::vector<AlgorithmChoice::Algorithm> AlgorithmChoice::UsualToTry(const Case& it) {
  const Selected chosen = Choose(it);
  const Algorithm usual = Usual(it);
  const bool by_time = fits_ > 0 && ByTime(chosen.why);
  if (!by_time || chosen.algorithm == usual || chosen.seconds > kSmallSeconds) return {};
  const std::uint64_t plans = ++plans_without_usual_[schedule::SizeClassOf(it.bytes)];
  return std::vector<Algorithm>(std::has_single_bit(plans) ? kAgain : 0, usual);
}

// After every trial: if it was slow, once is enough.
void AlgorithmChoice::FitIfDue() {
  const std::uint64_t more = std::max<std::uint64_t>(8, fitted_samples_ / 2);
  if ((fits_ > 0 && hardly_known_) || costs_.samples() >= fitted_samples_ + more) Fit();
}

void AlgorithmChoice::Fit() {
  if (costs_.samples() == fitted_samples_) return;
  fitted_ = costs_.Fit();
  fitted_samples_ = costs_.samples();
  hardly_known_ = false;
  chosen_.clear();
  ++fits_;
}

void AlgorithmChoice::ForRun(std::vector<Bucket>& buckets) {
  if (!active()) return;
  FitIfDue();
  for (Bucket& bucket : buckets) {
    if (bucket.kind != Kind::kAllreduce) continue;
    const Case it = CaseOf(bucket);
    Algorithm algorithm = Choose(it).algorithm;
    const int size = schedule::SizeClassOf(it.bytes);
    const bool usual = it.bytes > 0 && ++seen_[size] > kUsual;
    if (const auto some = usual ? ToTry(it) : std::vector<Algorithm>(); !some.empty()) {
      algorithm = some.front();
      ++tried_[{size, algorithm}];
    }
    bucket.algorithms = {NumberOf(algorithm)};
  }
}

void AlgorithmChoice::ForPlan(std::vector<Bucket>& buckets, bool may_try) {
  const auto before = std::exchange(planned_, {});
  trial_rounds_ = 0;
  if (!active()) return;
  if (fits_ == 0) Fit();
  FitIfDue();
  std::set<int> trying;
  for (Bucket& bucket : buckets) {
    if (bucket.kind != Kind::kAllreduce) continue;
    const Case it = CaseOf(bucket);
    const Algorithm algorithm = Choose(it).algorithm;
    const int size = schedule::SizeClassOf(it.bytes);
    bucket.algorithms.clear();
    if (may_try && trying.insert(size).second) {  // one bucket of a size is enough
      for (const Algorithm other : UsualToTry(it)) bucket.algorithms.push_back(NumberOf(other));
      for (const Algorithm other : ToTry(it)) {
        bucket.algorithms.push_back(NumberOf(other));
        ++tried_[{size, other}];
      }
    }
    trial_rounds_ = std::max<std::uint64_t>(trial_rounds_, bucket.algorithms.size());
    bucket.algorithms.push_back(NumberOf(algorithm));
    planned_.emplace_back(it, algorithm);
  }
  // After a broadcast, say, the same plan comes again, and its rounds are counted on.
  const bool same = trial_rounds_ == 0 && planned_ == before;
  rounds_before_ = same ? rounds_before_ + rounds_ : 0;
  rounds_ = 0;
  if (!same) next_look_ = trial_rounds_ > 0 ? trial_rounds_ : 2 + 8 * patience_;
}

bool AlgorithmChoice::RoundEnded(std::uint64_t round) {
  rounds_ = round + 1;
  if (planned_.empty() || rounds_before_ + rounds_ < next_look_) return false;
  next_look_ += std::min(next_look_, kRarestLook * patience_);
  Fit();
  double as_planned = 0.0;
  double anew = 0.0;
  for (const auto& [it, algorithm] : planned_) {
    as_planned += PredictAllreduce(algorithm, At(it), fitted_).seconds;
    anew += Choose(it).seconds;
  }
  const double gained = (as_planned - anew) * static_cast<double>(rounds_before_ + rounds_);
  const double most = gained > kPriceOfAPlan ? kWorthItsPrice : kWorthAPlan;
  if (anew >= most * as_planned) return false;
  patience_ = std::min<std::uint64_t>(2 * patience_, 64);
  return true;
}

double AlgorithmChoice::Expected(std::uint64_t bytes) const {
  return collectives::SelectAllreduceAndSay(At({bytes, !native_.empty()})).seconds;
}

std::vector<collectives::SelectionRow> AlgorithmChoice::Table() const {
  return collectives::SelectionTable(At({0, !native_.empty()}));
}

}  // namespace horovodx::negotiation

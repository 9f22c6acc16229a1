#include "horovodx/negotiation/plan_meter.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace horovodx::negotiation {
namespace {

constexpr std::uint64_t kRarest = 256;  // rounds between two looks, times patience

double MedianOf(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void PlanMeter::PlanStarted(PlanMade plan) {
  plan_ = std::move(plan);
  predicted_ =
      schedule::Play(plan_.tensors, plan_.buckets, samples() > 0 ? cost() : plan_.options.cost);
  round_.assign(plan_.tensors.size(), TimePoint());
  rounds_.clear();
  finished_ = 0;
  next_check_ = options_.first_check * patience_;
  ready_.clear();
}

void PlanMeter::Add(const Measured& bucket) {
  if (bucket.kind == Kind::kAllreduce && bucket.bytes > 0) fit_.Add(bucket.bytes, bucket.seconds);
}

bool PlanMeter::AddPlanned(const Measured& bucket) {
  if (options_.share <= 0.0 || plan_.buckets.empty() || !Serves(plan_.rule)) return false;
  const std::size_t index = bucket.number % plan_.buckets.size();
  const std::vector<int>& tensors = plan_.buckets[index];
  if (bucket.submitted.size() != tensors.size()) return false;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    round_[static_cast<std::size_t>(tensors[i])] = bucket.submitted[i];
  }
  return index + 1 == plan_.buckets.size() && EndRound();
}

bool PlanMeter::EndRound() {
  const TimePoint first = *std::min_element(round_.begin(), round_.end());
  std::vector<double> ready;
  for (const TimePoint at : round_) ready.push_back(ToSeconds(at - first));
  if (rounds_.size() < kRounds) rounds_.emplace_back();
  rounds_[finished_ % kRounds] = std::move(ready);
  if (++finished_ < next_check_) return false;
  next_check_ += std::min(next_check_, kRarest * patience_);

  const std::vector<schedule::Tensor> now = TensorsNow();
  schedule::Options options = plan_.options;
  options.cost = cost();
  if (!Moved(now, options.cost)) return false;
  const double as_planned = EndOf(schedule::Play(now, plan_.buckets, options.cost));
  const schedule::Buckets better = schedule::Cut(plan_.rule, now, options);
  const double anew = EndOf(schedule::Play(now, better, options.cost));
  if (anew > as_planned * (1.0 - options_.gain)) return false;
  for (std::size_t i = 0; i < now.size(); ++i) ready_[plan_.names[i]] = now[i].ready;
  patience_ = std::min<std::uint64_t>(2 * patience_, 64);
  ++made_anew_;
  return true;
}

std::vector<schedule::Tensor> PlanMeter::TensorsNow() const {
  std::vector<schedule::Tensor> tensors = plan_.tensors;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    std::vector<double> ready;
    for (const auto& round : rounds_) ready.push_back(round[i]);
    tensors[i].ready = MedianOf(std::move(ready));
  }
  return tensors;
}

bool PlanMeter::Moved(const std::vector<schedule::Tensor>& now,
                      const schedule::CostModel& cost) const {
  std::vector<std::uint64_t> sizes;
  for (const auto& bucket : schedule::Play(now, plan_.buckets, cost)) sizes.push_back(bucket.bytes);
  if (schedule::Distance(cost, plan_.options.cost, sizes) > options_.share) return true;
  double span = 0.0;
  double most = 0.0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    span = std::max(span, plan_.tensors[i].ready);
    most = std::max(most, std::abs(now[i].ready - plan_.tensors[i].ready));
  }
  return most > options_.share * span;
}

double PlanMeter::ReadyOf(const std::string& name, double otherwise) const {
  const auto it = ready_.find(name);
  return it == ready_.end() ? otherwise : it->second;
}

}  // namespace horovodx::negotiation

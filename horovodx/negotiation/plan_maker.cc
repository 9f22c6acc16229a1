#include "horovodx/negotiation/plan_maker.h"

#include <algorithm>
#include <string>
#include <utility>

#include "horovodx/base/log.h"
#include "horovodx/negotiation/shape.h"

namespace horovodx::negotiation {
namespace {

topology::HostMap HostsOf(const std::vector<std::int32_t>& ranks, const topology::HostMap& world) {
  if (world.size() == 0) return topology::HostMap::OneHost(static_cast<int>(ranks.size()));
  return world.Subset({ranks.begin(), ranks.end()});
}

std::string InWords(const AlgorithmChoice& choice) {
  std::string text = schedule::Describe(choice.fitted().levels);
  for (const auto& [algorithm, fit] : choice.costs().by_algorithm()) {
    text += "; " + std::string(NameOf(algorithm)) + " " + schedule::Describe(fit.Fit());
  }
  text += "; chosen";
  for (const auto& row : choice.Table()) {
    text += " from " + std::to_string(row.begin) + " bytes " +
            std::string(NameOf(row.selected.algorithm)) + " (" +
            std::string(NameOf(row.selected.why)) + ")";
  }
  return text;
}

template <typename Seconds>
std::vector<double> AtNewsSizes(Seconds seconds) {
  std::vector<double> all;
  for (const std::size_t bytes : CostNews::kBytes) all.push_back(seconds(bytes));
  return all;
}

}  // namespace

PlanMaker::PlanMaker(std::int32_t set, const std::vector<std::int32_t>& ranks,
                     const CoordinatorOptions* options)
    : set_(set),
      options_(options),
      meter_(options->replan),
      choice_(collectives::InputFor(HostsOf(ranks, options->hosts), options->allreduce),
              options->measured_selection, options->native) {
  if (set == 0 && options->autotune.enabled) tuner_.emplace(options->autotune);
}

void PlanMaker::ForRun(std::vector<Bucket>& buckets) {
  choice_.ForRun(buckets);
  SayHowToSend(buckets, false);
  LogCosts();
}

std::vector<Bucket> PlanMaker::Make(std::vector<Single> step, std::uint32_t epoch, bool cautious) {
  for (Single& single : step) {
    single.ready = meter_.ReadyOf(single.bucket.entries.front().name, single.ready);
  }
  TuneFor(step);
  const CutOptions how = HowToCut(cautious);
  CutStep cut = CutPlan(step, how);
  std::vector<Bucket> buckets = cut.buckets;
  buckets_ = buckets.size();
  tries_links_ = tuner_ && tuner_->tries_links();
  choice_.ForPlan(buckets, !tries_links_);
  SayHowToSend(buckets, true);
  LogCosts();
  if (PlanMeter::Serves(how.rule) && meter_.samples() > 0) LogPlanCost(how.schedule.cost);
  HVDX_LOG(kDebug) << "set " << set_ << ": a plan of " << step.size() << " tensors in "
                   << buckets.size() << " buckets by " << how.rule << "; an allreduce takes "
                   << schedule::Describe(how.schedule.cost) << ", from " << meter_.samples()
                   << " measurements";
  Remember(step, how, std::move(cut));
  if (options_->observer != nullptr) Tell(epoch, how, step.size());
  return buckets;
}

void PlanMaker::Tell(std::uint32_t epoch, const CutOptions& how, std::size_t tensors) const {
  options_->observer->PlanStarted({set_, epoch, how.rule, how.cautious, tensors, buckets_,
                                   schedule::EndOf(meter_.predicted()),
                                   schedule::Describe(how.schedule.cost)});
}

std::uint64_t PlanMaker::fusion_threshold() const {
  return tuner_ ? tuner_->current().fusion_threshold : options_->fusion_threshold;
}

CutOptions PlanMaker::HowToCut(bool cautious) const {
  CutOptions how;
  how.rule = tuner_ ? tuner_->current().schedule : options_->schedule;
  how.schedule.threshold = fusion_threshold();
  how.schedule.bucket_bytes = options_->bucket_bytes;
  how.disable_group_fusion = options_->disable_group_fusion;
  how.cautious = cautious;
  if (PlanMeter::Serves(how.rule) && meter_.samples() > 0) how.schedule.cost = meter_.cost();
  return how;
}

void PlanMaker::TuneFor(const std::vector<Single>& step) {
  if (!tuner_) return;
  tuning::Workload workload{step.size(), 0};
  for (const Single& single : step) workload.bytes += BytesMoved(single.bucket);
  tuner_->PlanStarts(workload);
}

// What is tuned holds for the plan; what is negotiated is sent as the user said.
void PlanMaker::SayHowToSend(std::vector<Bucket>& buckets, bool planned) const {
  std::uint32_t segment = options_->segment;
  int streams = 0;
  if (tuner_) {
    const tuning::Setting& how = planned ? tuner_->current() : options_->autotune.search.first;
    segment = how.segment;
    streams = how.streams;
  }
  for (Bucket& bucket : buckets) {
    if (bucket.kind == Kind::kAllreduce) bucket.segment = segment;
    bucket.streams = static_cast<std::uint8_t>(streams);
  }
}

void PlanMaker::Remember(const std::vector<Single>& step, const CutOptions& how, CutStep cut) {
  PlanMade made;
  for (const Single& single : step) made.names.push_back(single.bucket.entries.front().name);
  made.tensors = std::move(cut.tensors);
  made.buckets = std::move(cut.parts);
  // What was cut with caution is not made anew: it was not for speed.
  made.rule = how.cautious ? "" : how.rule;
  made.options = how.schedule;
  meter_.PlanStarted(std::move(made));
}

// False for a trial: it says nothing about what a bucket will take.
bool PlanMaker::NoteLinks(const Measured& bucket) {
  if (bucket.kind != Kind::kAllreduce || bucket.algorithm >= collectives::kAllreduceAlgorithms) {
    return true;
  }
  // While other segments and streams are tried, what an algorithm takes is no reason to leave it:
  // it would not run again to show that it was not its fault.
  if (bucket.planned && tries_links_) return true;
  const auto algorithm = static_cast<collectives::AllreduceAlgorithm>(bucket.algorithm);
  choice_.Add(algorithm, bucket.bytes, bucket.seconds);
  const bool may_be_trial =
      !bucket.planned || buckets_ == 0 || bucket.number / buckets_ < choice_.trial_rounds();
  return !may_be_trial || !choice_.IsTrial(algorithm, bucket.bytes, bucket.type, bucket.op);
}

// True if another setting is to be tried from the next plan on.
bool PlanMaker::NoteForTuning(const Measured& bucket) {
  if (!tuner_) return false;
  bool other = false;
  if (bucket.number % buckets_ == 0 && !bucket.submitted.empty()) {
    other = tuner_->StepBegan(*std::min_element(bucket.submitted.begin(), bucket.submitted.end()));
  }
  if (bucket.kind == Kind::kAllreduce) tuner_->Add(bucket.bytes);
  return other;
}

std::optional<std::string> PlanMaker::OnMeasured(const Measured& bucket, bool of_plan) {
  if (NoteLinks(bucket)) meter_.Add(bucket);
  if (!of_plan) return std::nullopt;
  const bool round_ended = bucket.number % buckets_ == buckets_ - 1;
  const bool cut_anew = meter_.AddPlanned(bucket);
  const bool choose_anew = round_ended && choice_.RoundEnded(bucket.number / buckets_);
  const bool tune = NoteForTuning(bucket);
  LogCosts();
  if (tune) return "another setting is to be tried";
  if (!cut_anew && !choose_anew) return std::nullopt;
  const std::string why = cut_anew ? "what an allreduce takes or when tensors come has moved"
                                   : "other algorithms are faster";
  HVDX_LOG(kInfo) << "set " << set_ << ": a new plan will be made: " << why << ". Measured: "
                  << (cut_anew ? "an allreduce takes " + schedule::Describe(meter_.cost())
                               : InWords(choice_));
  return why;
}

// One line whenever the costs were fitted anew; for everyone to see if they are news.
void PlanMaker::LogCosts() {
  if (costs_logged_ == choice_.fits()) return;
  costs_logged_ = choice_.fits();
  const auto line = [this] {
    return "set " + std::to_string(set_) + ": from " + std::to_string(choice_.costs().samples()) +
           " allreduces over links: " + InWords(choice_);
  };
  if (link_news_.Heard(AtNewsSizes([this](auto bytes) { return choice_.Expected(bytes); }))) {
    HVDX_LOG(kInfo) << line();
  } else {
    HVDX_LOG(kDebug) << line();
  }
}

void PlanMaker::LogPlanCost(const schedule::CostModel& cost) {
  if (!plan_news_.Heard(AtNewsSizes([&](auto bytes) { return cost.Seconds(bytes); }))) return;
  HVDX_LOG(kInfo) << "set " << set_ << ": plans are made for allreduces that take "
                  << schedule::Describe(cost) << ", from " << meter_.samples() << " measurements";
}

}  // namespace horovodx::negotiation

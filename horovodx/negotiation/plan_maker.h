// PlanMaker: how a set's buckets are cut and sent, from what rank 0 has measured; and when another
// plan would be better. Pure.
//
// Three opinions meet here: what leaves when (PlanMeter and the rules of schedule/), by which way
// (AlgorithmChoice), and what HOROVOD_AUTOTUNE tries (tuning/). Who may start or end a plan is
// SetCoordinator's business.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "horovodx/negotiation/algorithm_choice.h"
#include "horovodx/negotiation/assemble.h"
#include "horovodx/negotiation/coordinator.h"
#include "horovodx/negotiation/cost_news.h"
#include "horovodx/negotiation/message.h"
#include "horovodx/negotiation/plan_meter.h"

namespace horovodx::negotiation {

class PlanMaker {
 public:
  // `options` is borrowed for life.
  PlanMaker(std::int32_t set, const std::vector<std::int32_t>& ranks,
            const CoordinatorOptions* options);

  // Says in buckets that are negotiated how they are to be sent.
  void ForRun(std::vector<Bucket>& buckets);
  // Cuts a step that repeats. `cautious`: see PlanWatcher.
  std::vector<Bucket> Make(std::vector<Single> step, std::uint32_t epoch, bool cautious);

  // A bucket has run on rank 0; `of_plan`: it belongs to the plan that was made last. Why another
  // plan should be made, if so.
  std::optional<std::string> OnMeasured(const Measured& bucket, bool of_plan);

  std::uint64_t fusion_threshold() const;
  const PlanMeter& meter() const { return meter_; }
  const AlgorithmChoice& choice() const { return choice_; }
  std::vector<tuning::Tried> TakeScores() {
    return tuner_ ? tuner_->TakeScores() : std::vector<tuning::Tried>();
  }

 private:
  CutOptions HowToCut(bool cautious) const;
  void TuneFor(const std::vector<Single>& step);
  void SayHowToSend(std::vector<Bucket>& buckets, bool planned) const;
  void Remember(const std::vector<Single>& step, const CutOptions& how, CutStep cut);
  bool NoteLinks(const Measured& bucket);
  bool NoteForTuning(const Measured& bucket);
  void LogCosts();
  void LogPlanCost(const schedule::CostModel& cost);
  void Tell(std::uint32_t epoch, const CutOptions& how, std::size_t tensors) const;

  const std::int32_t set_;
  const CoordinatorOptions* const options_;
  PlanMeter meter_;
  AlgorithmChoice choice_;
  std::optional<tuning::Autotuner> tuner_;
  std::uint64_t buckets_ = 0;  // of the plan
  bool tries_links_ = false;   // the plan does, with other segments or streams than those given
  std::uint64_t costs_logged_ = 0;  // fits
  CostNews link_news_;
  CostNews plan_news_;
};

}  // namespace horovodx::negotiation

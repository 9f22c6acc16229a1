// PlanMeter: what a set's buckets take and when its tensors come, and whether another cut of its
// plan would now end earlier. Only rank 0's clock is asked, so that all ranks follow one opinion.
// Pure.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "horovodx/base/clock.h"
#include "horovodx/negotiation/message.h"
#include "horovodx/schedule/cost_fit.h"
#include "horovodx/schedule/cut.h"
#include "horovodx/schedule/in_a_row.h"
#include "horovodx/schedule/play.h"

namespace horovodx::negotiation {

// In place of an algorithm: through memory that the ranks of a host share.
inline constexpr std::uint8_t kOnStage = 254;

// A bucket that has run on rank 0.
struct Measured {
  std::int32_t set = 0;
  std::uint32_t epoch = 0;
  bool planned = false;
  std::uint64_t number = 0;  // as in Work
  Kind kind = Kind::kAllreduce;
  std::uint64_t bytes = 0;
  double seconds = 0.0;
  std::vector<TimePoint> submitted;   // when its tensors came, in the order of its entries
  std::uint8_t algorithm = kByRules;  // of an allreduce over links; else kOnStage or kByRules
  ElementType type = ElementType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
};

// A plan as it was made.
struct PlanMade {
  std::vector<std::string> names;
  std::vector<schedule::Tensor> tensors;
  schedule::Buckets buckets;  // indices of the above
  std::string rule;
  schedule::Options options;
};

class PlanMeter {
 public:
  struct Options {
    double share = 0.25;  // costs or readiness have moved if by more than this; 0: never again
    double gain = 0.02;   // what another cut must promise
    std::uint64_t first_check = 8;  // rounds of a plan before the first look; then ever rarer
  };
  explicit PlanMeter(Options options) : options_(options) {}

  // A rule that asks what a collective costs.
  static bool Serves(std::string_view rule) { return rule == "optimal" || rule == "mgwfbp"; }

  // Fitted to all allreduces so far, as they are when one follows the other.
  schedule::CostModel cost() const { return schedule::InARow(fit_.Fit(), fit_.smallest()); }
  std::uint64_t samples() const { return fit_.samples(); }
  // What they took, by size.
  std::vector<schedule::Point> points() const { return fit_.Points(); }

  void PlanStarted(PlanMade plan);
  // Any bucket, planned or not.
  void Add(const Measured& bucket);
  // A bucket of the plan in force. True if the plan should be made anew: something has moved, and
  // another cut would end earlier.
  bool AddPlanned(const Measured& bucket);
  // When a tensor was ready in the plan that should be made anew; `otherwise` if it was not in it.
  double ReadyOf(const std::string& name, double otherwise) const;
  // When the buckets of the plan leave and arrive, by what was known when it was made: seconds
  // after the step's first tensor.
  const std::vector<schedule::Played>& predicted() const { return predicted_; }
  // How often AddPlanned said so.
  std::uint64_t made_anew() const { return made_anew_; }

 private:
  static constexpr std::size_t kRounds = 5;  // whose median counts

  bool EndRound();
  std::vector<schedule::Tensor> TensorsNow() const;
  bool Moved(const std::vector<schedule::Tensor>& now, const schedule::CostModel& cost) const;

  Options options_;
  schedule::CostFit fit_{schedule::Piece{0, 100e-6, 1.0 / 4e9}};
  PlanMade plan_;
  std::vector<schedule::Played> predicted_;
  std::vector<TimePoint> round_;             // of the round under way, by tensor
  std::vector<std::vector<double>> rounds_;  // the last kRounds, in turn
  std::uint64_t finished_ = 0;               // rounds of this plan
  std::uint64_t next_check_ = 0;
  std::uint64_t patience_ = 1;  // doubles with every plan made anew
  std::uint64_t made_anew_ = 0;
  std::unordered_map<std::string, double> ready_;
};

}  // namespace horovodx::negotiation

// AlgorithmChoice: which allreduce a set's buckets run, by what they took so far. Pure.
//
// Rank 0 alone measures and decides; what it decided travels inside each bucket, so all ranks run
// the same. An algorithm that links say might be the fastest is tried: in buckets that are
// negotiated one at a time, in a plan once each in its first rounds, which the plan itself says.
// One that turned out slower at a size like this is not tried again, one that is as fast as any a
// few times before it is believed. No more is tried once all that are promising are known.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "horovodx/collectives/predict.h"
#include "horovodx/collectives/select.h"
#include "horovodx/collectives/selection_table.h"
#include "horovodx/negotiation/message.h"
#include "horovodx/schedule/algorithm_costs.h"
#include "horovodx/transport/native_allreduce.h"

namespace horovodx::negotiation {

class AlgorithmChoice {
 public:
  using Algorithm = collectives::AllreduceAlgorithm;

  // `team` borrows its rules for life. Not `measured`: by the rules, always. `native`: what the
  // fabric's own allreduce can do.
  AlgorithmChoice(const collectives::SelectInput& team, bool measured,
                  transport::NativeKinds native = {});

  // An allreduce over links has run on rank 0.
  void Add(Algorithm algorithm, std::uint64_t bytes, double seconds);
  // Whether there is anything to choose from: more than one rank, over links.
  bool active() const { return may_ && (team_.hosts > 1 || costs_.samples() > 0); }
  // This is not the one chosen for such a bucket: it was a trial.
  bool IsTrial(Algorithm algorithm, std::uint64_t bytes, ElementType type = ElementType::kFloat32,
               ReduceOp op = ReduceOp::kSum);

  // Says in each allreduce which algorithm is to run, now or round by round. Not `may_try`: nothing
  // new is tried in this plan.
  void ForRun(std::vector<Bucket>& buckets);
  void ForPlan(std::vector<Bucket>& buckets, bool may_try = true);
  // Rounds of the plan that try something.
  std::uint64_t trial_rounds() const { return trial_rounds_; }
  // A round of the plan has ended on rank 0. True if another choice would now make a step's
  // allreduces clearly faster: a new plan should be made. Looks ever more rarely, also if the same
  // plan ends and comes again.
  bool RoundEnded(std::uint64_t round);

  std::vector<collectives::SelectionRow> Table() const;
  const collectives::SelectInput& team() const { return team_; }
  const schedule::AlgorithmCosts& costs() const { return costs_; }
  const collectives::AllreduceCosts& fitted() const { return fitted_; }
  // What is predicted of the one chosen, in seconds. Something has been fitted.
  double Expected(std::uint64_t bytes) const;
  // How often the costs were fitted anew.
  std::uint64_t fits() const { return fits_; }

 private:
  static constexpr std::uint64_t kEnough = 3;  // times, to know an algorithm at a size
  static constexpr std::uint64_t kUsual = 4;   // a size that comes less often is not worth a trial
  static constexpr std::uint64_t kAgain = 12;  // times: makes a lower quartile of what is kept
  static constexpr double kSmallSeconds = 1e-3;
  static constexpr double kPromising = 1.25;   // of the least predicted time, if it never ran
  static constexpr double kAsGood = 1.05;      // the same, if it ran
  static constexpr double kLike = 3.0;         // doublings: at a size like this
  static constexpr double kWorthAPlan = 0.93;  // of the time as planned
  // The same, if what is gained would have paid for the change since the plan was made.
  static constexpr double kWorthItsPrice = 0.97;
  static constexpr double kPriceOfAPlan = 1e-3;  // seconds: a step or two are negotiated

  // What a choice depends on.
  struct Case {
    std::uint64_t bytes = 0;
    bool native = false;                            // the fabric's own allreduce can run it
    auto operator<=>(const Case&) const = default;  // NOLINT: no null is compared
  };
  Case CaseOf(const Bucket& bucket) const;
  bool IsNative(ElementType type, ReduceOp op) const;
  collectives::SelectInput At(const Case& it) const;
  collectives::Selected Choose(const Case& it);
  Algorithm Usual(const Case& it) const;  // what the rules say
  // Those that might be the fastest at this size and are not known well enough.
  std::vector<Algorithm> ToTry(const Case& it);
  // What the rules say, a few times, if another one was chosen and it is time to ask again.
  std::vector<Algorithm> UsualToTry(const Case& it);
  void FitIfDue();
  void Fit();

  collectives::SelectInput team_;
  const bool may_;
  const transport::NativeKinds native_;
  schedule::AlgorithmCosts costs_;
  collectives::AllreduceCosts fitted_;
  std::uint64_t fitted_samples_ = 0;
  std::uint64_t fits_ = 0;
  bool hardly_known_ = false;                     // something that has run since then was
  std::map<Case, collectives::Selected> chosen_;  // of this fit
  std::map<std::pair<int, Algorithm>, std::uint64_t> tried_;  // by class of size: told to
  std::map<int, std::uint64_t> seen_;                         // negotiated, by class
  std::map<int, std::uint64_t> plans_without_usual_;          // by class

  std::vector<std::pair<Case, Algorithm>> planned_;  // and what they end up with
  std::uint64_t trial_rounds_ = 0;
  std::uint64_t rounds_before_ = 0;  // of the same plan, when it was in force before
  std::uint64_t rounds_ = 0;         // since it is
  std::uint64_t next_look_ = 0;
  std::uint64_t patience_ = 1;
};

}  // namespace horovodx::negotiation

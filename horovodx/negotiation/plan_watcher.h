// Sees the sequence of what runs in one set, and when it has repeated often enough to be a plan.
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "horovodx/base/clock.h"
#include "horovodx/negotiation/assemble.h"
#include "horovodx/negotiation/message.h"
#include "horovodx/negotiation/validate.h"

namespace horovodx::negotiation {

// No plan is longer. Members remember their requests this far back.
inline constexpr std::size_t kMostPlanned = 8192;

// A step ends when a name repeats. Equal steps are those with the same names and the same requests
// of all members, in any order.
class PlanWatcher {
 public:
  explicit PlanWatcher(int repeats) : base_repeats_(repeats), repeats_(repeats) {}

  // True for what may stand in a plan: every member's result needs every member's part. So no
  // broadcast (its root finishes alone), and nothing that leaves a member without data to wait for.
  static bool Plannable(const Bucket& single, std::size_t members);

  // This name has run in the step that is being seen: if it is to run again, a step ends here.
  bool Repeats(const std::string& name) const { return current_.index.contains(name); }
  // What has run is the whole step of the last plan, which has served well: something else came
  // between (a broadcast, a metric), and it will go on as before.
  bool IsProvenStep() const { return proven_ && Same(planned_, current_); }
  // Counts the step. True if steps have repeated often enough for a plan: once, if it is a proven
  // one.
  bool EndStep();
  // This tensor runs. Its name does not repeat.
  void Add(Single single, std::string name, Requests requests, TimePoint now);
  // Something ran that cannot stand in a plan.
  void Reset();

  // The step that repeated, in the order of readiness of the last time, with the earliest readiness
  // of every tensor. Valid after EndStep().
  std::vector<Single> Step() const;
  // The request of this member for this name is part of the step.
  bool Fits(const Request& request, std::size_t member) const;
  // The last plan of this very step was left at once: a caller may wait for each tensor before it
  // gives the next one. Then only tensors that were ready at the same moment should be merged.
  bool cautious() const { return left_at_once_ && Same(planned_, last_); }

  void PlanStarted();
  // The plan lasted for so many rounds. One that was hardly used makes the next one come later, but
  // not if that was `wanted`.
  void PlanEnded(std::uint64_t rounds, bool wanted = false);

 private:
  struct Seen {
    Single single;
    Requests requests;
  };
  struct StepSeen {
    std::vector<Seen> tensors;
    std::unordered_map<std::string, std::size_t> index;
    TimePoint start;
  };
  static bool Same(const Requests& a, const Requests& b);
  static bool Same(const StepSeen& a, const StepSeen& b);

  int base_repeats_;
  int repeats_;  // wanted now
  int streak_ = 0;
  bool left_at_once_ = false;
  bool proven_ = false;  // the last plan was worth it
  StepSeen last_;        // the step that has repeated `streak_` times
  StepSeen current_;     // so far
  StepSeen planned_;     // of the plan in force, or of the last one
};

}  // namespace horovodx::negotiation

// The coordinator's half of the agreement for one process set. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "horovodx/negotiation/coordinator.h"
#include "horovodx/negotiation/message.h"
#include "horovodx/negotiation/plan_maker.h"
#include "horovodx/negotiation/plan_watcher.h"
#include "horovodx/negotiation/response_cache.h"
#include "horovodx/negotiation/stall_inspector.h"
#include "horovodx/negotiation/validate.h"

namespace horovodx::negotiation {

// Even epochs negotiate, odd ones follow a plan. Everything said in an older epoch is void.
class SetCoordinator {
 public:
  // `options` and `out` are borrowed for life. Messages for the members are appended to `out`.
  SetCoordinator(std::int32_t set, std::vector<std::int32_t> ranks,
                 const CoordinatorOptions* options, std::vector<Outgoing>* out);

  const std::vector<std::int32_t>& ranks() const { return validate_.ranks; }

  // From the member with this global rank. Not a member: ignored.
  void OnReady(std::int32_t from, const Ready& ready, TimePoint now);
  // An error is a broken protocol.
  Status OnLeave(std::int32_t from, const Leave& leave);
  void OnStuck(std::int32_t from, const Stuck& stuck);

  // A bucket of this set has run on rank 0. May end a plan that should be made anew.
  void OnMeasured(const Measured& bucket);
  const PlanMaker& maker() const { return maker_; }
  std::vector<tuning::Tried> TakeScores() { return maker_.TakeScores(); }

  // Sends what has become ready since the last call.
  void Flush();
  // Asks the members to leave their plan, if there is one, and makes no new one from now on.
  void EndPlans();
  bool in_plan() const { return epoch_ % 2 == 1; }

  TimePoint next_check() const;
  std::optional<StallReport> CheckStalls(TimePoint now);

 private:
  // A name somebody has asked for. Kept in order of arrival.
  struct Pending {
    std::string name;
    Requests requests;
    std::size_t count = 0;  // requests that are there
    std::size_t hits = 0;   // of them, those equal to the cached response `cached`
    std::uint64_t cached = 0;
    TimePoint since;
    bool ready = false;  // waits only for the rest of its group
  };
  using Order = std::map<std::uint64_t, Pending>;

  std::optional<std::size_t> MemberOf(std::int32_t rank) const;
  void TakePassing(std::size_t member, const Ready& ready, TimePoint now);
  void TakeCached(std::size_t member, const Ready& ready, TimePoint now);
  void TakeRequest(std::size_t member, const Request& request, TimePoint now);
  void Ask(std::size_t member, std::shared_ptr<const Request> request, std::uint64_t cached,
           TimePoint now);
  void TakeJoin(std::size_t member, const std::string& name, TimePoint now);
  void Join(std::size_t member, TimePoint now);
  void CompleteJoin(TimePoint now);

  bool IsReady(const Pending& pending) const;
  void Settle(Order::iterator it, TimePoint now);
  void SettleAll(TimePoint now);
  void Emit(const std::vector<std::uint64_t>& unit, TimePoint now);
  void Emit(Order::iterator it, TimePoint now);
  bool EndsStep(const std::vector<std::uint64_t>& unit) const;
  bool MayStartPlan() const;
  bool OnlyPlannedPending() const;
  void StartPlan();
  void RememberCutGroups(std::uint64_t end);
  void AskToLeave(std::string why);
  void Forget(Order::iterator it);
  void ForgetAll();
  static bool Passes(const Pending& pending);
  template <typename Message>
  void Send(Message message);

  const std::int32_t set_;
  const CoordinatorOptions* const options_;
  std::vector<Outgoing>* const out_;
  ValidateOptions validate_;  // holds the members' ranks, in order of their set rank

  std::uint32_t epoch_ = 0;
  std::vector<std::vector<std::string>> planned_groups_;  // by bucket of the plan: its groups
  std::uint64_t last_end_ = 0;                            // where the plan of epoch_ - 1 ended
  bool asked_to_leave_ = false;
  std::string why_asked_;
  bool left_for_better_ = false;  // another plan was wanted: this one was no mistake
  bool plans_allowed_;

  std::uint64_t arrivals_ = 0;
  Order pending_;
  std::unordered_map<std::string, std::uint64_t> by_name_;
  std::unordered_map<std::string, std::vector<std::uint64_t>> groups_;  // ready, in order
  // Groups that a plan's end has cut in two: how many of their tensors have not run yet.
  std::unordered_map<std::string, std::size_t> cut_groups_;

  std::vector<bool> joined_;
  std::size_t joined_count_ = 0;
  std::int32_t last_joined_ = -1;
  std::string join_name_;
  std::vector<std::uint64_t> owed_;   // answers to Resend, by member
  std::vector<bool> join_when_paid_;  // the member has joined but owes answers

  std::vector<Single> ready_;  // to be sent with the next Run
  std::vector<std::uint64_t> ready_ids_;
  ResponseCache cache_;
  PlanWatcher watcher_;
  PlanMaker maker_;
  StallInspector stalls_;
};

}  // namespace horovodx::negotiation

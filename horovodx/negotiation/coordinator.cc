#include "horovodx/negotiation/coordinator.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "horovodx/base/log.h"
#include "horovodx/negotiation/set_coordinator.h"
#include "horovodx/negotiation/set_roster.h"

namespace horovodx::negotiation {
namespace {

enum class Phase { kServing, kEndingPlans, kDraining, kClosed };

std::string ListOf(const std::vector<std::int32_t>& ranks) {
  std::string text;
  for (std::int32_t rank : ranks) text += (text.empty() ? "" : ", ") + std::to_string(rank);
  return text;
}

}  // namespace

struct Coordinator::Impl {
  explicit Impl(CoordinatorOptions given)
      : options(std::move(given)), roster(options.size, options.sets) {
    for (std::size_t id = 0; id < options.sets.size(); ++id) {
      AddCoordinator(static_cast<std::int32_t>(id), options.sets[id]);
    }
    gone.assign(options.size, false);
    drained.assign(options.size, false);
  }

  void AddCoordinator(std::int32_t set, std::vector<std::int32_t> ranks) {
    sets.emplace(set, std::make_unique<SetCoordinator>(set, std::move(ranks), &options, &out));
  }
  SetCoordinator* Find(std::int32_t set) {
    const auto it = sets.find(set);
    return it == sets.end() ? nullptr : it->second.get();
  }

  bool Serves() const { return phase == Phase::kServing || phase == Phase::kEndingPlans; }

  void On(int from, const Ready& ready, TimePoint now) {
    if (SetCoordinator* set = Find(ready.set)) set->OnReady(from, ready, now);
  }
  void On(int from, const Leave& leave, TimePoint) {
    SetCoordinator* set = Find(leave.set);
    if (set == nullptr) return;
    if (Status status = set->OnLeave(from, leave); !status.ok()) Break(from, status.message());
    PlanMayHaveEnded();
  }
  void On(int from, const Stuck& stuck, TimePoint) {
    if (SetCoordinator* set = Find(stuck.set)) set->OnStuck(from, stuck);
  }
  void On(int from, const AddSet& add, TimePoint) { Change(from, add); }
  void On(int from, const RemoveSet& remove, TimePoint) { Change(from, remove); }
  void On(int from, const WantShutdown&, TimePoint) {
    BeginShutdown("rank " + std::to_string(from) + " called hvd.shutdown() or ended its script");
  }
  void On(int, const Drained&, TimePoint) {}  // means something only after Shutdown
  void On(int, const Lost& lost, TimePoint) { Lose(lost.rank, lost.why); }

  template <typename Wish>
  void Change(int from, const Wish& wish) {
    if (!options.dynamic_sets) {
      Append(out, {from},
             SetRefused{kSetsNotDynamic,
                        "process sets can be added or removed after init only if "
                        "HOROVOD_DYNAMIC_PROCESS_SETS is set"});
      return;
    }
    auto result = roster.Want(from, wish);
    if (!result.ok()) {
      Break(from, result.status().message());
      return;
    }
    if (const std::optional<SetRoster::Decision>& decision = *result) {
      std::visit([this](const auto& answer) { this->Announce(answer); }, *decision);
    }
  }
  void Announce(const SetAdded& added) {
    AddCoordinator(added.set, added.ranks);
    if (phase != Phase::kServing) sets.at(added.set)->EndPlans();
    ToAll(added);
  }
  void Announce(const SetRefused& refused) { ToAll(refused); }
  // What still runs by a plan must come to an end first: the members leave it, then the set is
  // gone.
  void Announce(const SetRemoved& removed) {
    removing = removed.set;
    sets.at(removed.set)->EndPlans();
    PlanMayHaveEnded();
  }
  void PlanMayHaveEnded() {
    if (!Serves()) return;
    if (removing && !sets.at(*removing)->in_plan()) {
      sets.at(*removing)->Flush();
      sets.erase(*removing);
      roster.Remove(*removing);
      ToAll(SetRemoved{*removing});
      removing.reset();
    }
    if (phase == Phase::kEndingPlans) MayShutDown();
  }

  void BeginShutdown(std::string reason) {
    if (phase != Phase::kServing) return;
    phase = Phase::kEndingPlans;
    why = std::move(reason);
    for (auto& [id, set] : sets) set->EndPlans();
    MayShutDown();
  }
  void MayShutDown() {
    const bool plans =
        std::any_of(sets.begin(), sets.end(), [](const auto& s) { return s.second->in_plan(); });
    if (plans) return;
    for (auto& [id, set] : sets) set->Flush();
    ToAll(Shutdown{why});
    phase = Phase::kDraining;
    MayClose();
  }
  void Lose(std::int32_t rank, const std::string& reason) {
    if (rank < 0 || rank >= options.size || gone[rank]) return;
    gone[rank] = true;
    if (Serves()) Break(rank, reason);
    MayClose();
  }
  // Everything ends here because of this rank. It hears so too, if it is still there.
  void Break(std::int32_t rank, const std::string& reason) {
    for (auto& [id, set] : sets) set->Flush();
    ToAll(Failed{rank, reason});
    phase = Phase::kDraining;
  }
  void MayClose() {
    if (phase != Phase::kDraining) return;
    for (int rank = 0; rank < options.size; ++rank) {
      if (!gone[rank] && !drained[rank]) return;
    }
    ToAll(Close{});
    phase = Phase::kClosed;
  }
  void WhileDraining(int from, const UpMessage& message) {
    if (std::holds_alternative<Drained>(message)) drained[from] = true;
    if (const auto* lost = std::get_if<Lost>(&message)) Lose(lost->rank, lost->why);
    MayClose();
  }

  void CheckStalls(TimePoint now) {
    for (auto& [id, set] : sets) {
      const std::optional<StallReport> report = set->CheckStalls(now);
      if (!report) continue;
      if (report->stalled.empty()) {
        HVDX_LOG(kWarning) << report->text;
        continue;
      }
      HVDX_LOG(kError) << report->text;
      stalled_why = "stalled ranks: " + ListOf(report->stalled) + " (" + report->missing + ")";
    }
    if (!stalled_why.empty()) BeginShutdown(stalled_why);
  }

  void ToAll(DownMessage message) {
    std::vector<std::int32_t> to;
    for (int rank = 0; rank < options.size; ++rank) {
      if (!gone[rank]) to.push_back(rank);
    }
    if (!to.empty()) Append(out, std::move(to), std::move(message));
  }

  CoordinatorOptions options;
  std::vector<Outgoing> out;
  std::map<std::int32_t, std::unique_ptr<SetCoordinator>> sets;
  SetRoster roster;
  std::optional<std::int32_t> removing;
  Phase phase = Phase::kServing;
  std::string why;
  std::string stalled_why;
  std::vector<bool> gone;
  std::vector<bool> drained;
};

Coordinator::Coordinator(CoordinatorOptions options) {
  if (options.sets.empty()) {
    options.sets.emplace_back(options.size);
    std::iota(options.sets[0].begin(), options.sets[0].end(), 0);
  }
  impl_ = std::make_unique<Impl>(std::move(options));
}

Coordinator::~Coordinator() = default;

void Coordinator::OnMessage(int from, const UpMessage& message, TimePoint now) {
  if (from < 0 || from >= impl_->options.size || impl_->gone[from]) return;
  if (!impl_->Serves()) {
    if (impl_->phase == Phase::kDraining) impl_->WhileDraining(from, message);
    return;
  }
  std::visit([&](const auto& m) { impl_->On(from, m, now); }, message);
}

void Coordinator::OnMeasured(const Measured& bucket) {
  if (impl_->phase != Phase::kServing) return;
  if (SetCoordinator* set = impl_->Find(bucket.set)) set->OnMeasured(bucket);
}

const PlanMeter* Coordinator::meter(std::int32_t set) const {
  const SetCoordinator* found = impl_->Find(set);
  return found == nullptr ? nullptr : &found->maker().meter();
}

const AlgorithmChoice* Coordinator::choice(std::int32_t set) const {
  const SetCoordinator* found = impl_->Find(set);
  return found == nullptr ? nullptr : &found->maker().choice();
}

std::vector<tuning::Tried> Coordinator::TakeScores() {
  SetCoordinator* world = impl_->Find(0);
  return world == nullptr ? std::vector<tuning::Tried>() : world->TakeScores();
}

void Coordinator::OnTime(TimePoint now) {
  if (impl_->phase == Phase::kServing) impl_->CheckStalls(now);
}

TimePoint Coordinator::next_time() const {
  TimePoint next = TimePoint::max();
  if (impl_->phase != Phase::kServing) return next;
  for (const auto& [id, set] : impl_->sets) next = std::min(next, set->next_check());
  return next;
}

std::vector<Outgoing> Coordinator::TakeMessages() {
  if (impl_->Serves()) {
    for (auto& [id, set] : impl_->sets) set->Flush();
  }
  return std::exchange(impl_->out, {});
}

}  // namespace horovodx::negotiation

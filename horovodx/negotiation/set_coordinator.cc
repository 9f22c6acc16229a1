#include "horovodx/negotiation/set_coordinator.h"

#include <algorithm>
#include <set>
#include <utility>

#include "horovodx/base/log.h"
#include "horovodx/negotiation/shape.h"

namespace horovodx::negotiation {
SetCoordinator::SetCoordinator(std::int32_t set, std::vector<std::int32_t> ranks,
                               const CoordinatorOptions* options, std::vector<Outgoing>* out)
    : set_(set),
      options_(options),
      out_(out),
      validate_{std::move(ranks), options->fusion_threshold},
      plans_allowed_(options->plans),
      joined_(validate_.ranks.size()),
      owed_(validate_.ranks.size()),
      join_when_paid_(validate_.ranks.size()),
      cache_(options->cache_capacity),
      watcher_(std::max(1, options->repeats_before_plan)),
      maker_(set, validate_.ranks, options),
      stalls_(options->stall_warning, options->stall_shutdown) {}

template <typename Message>
void SetCoordinator::Send(Message message) {
  message.set = set_;
  Append(*out_, ranks(), std::move(message));
}

std::optional<std::size_t> SetCoordinator::MemberOf(std::int32_t rank) const {
  const auto it = std::lower_bound(ranks().begin(), ranks().end(), rank);
  if (it == ranks().end() || *it != rank) return std::nullopt;
  return static_cast<std::size_t>(it - ranks().begin());
}

// --- what members ask for -----------------------------------------------------------------------

void SetCoordinator::OnReady(std::int32_t from, const Ready& ready, TimePoint now) {
  const auto member = MemberOf(from);
  // A plan that starts while this message is read makes the rest of it void, as if it had come
  // later: its sender learns so from StartPlan.
  const auto valid = [&] { return ready.epoch == epoch_ && !in_plan(); };
  if (!member) return;
  if (in_plan()) TakePassing(*member, ready, now);
  if (!valid()) return;
  TakeCached(*member, ready, now);
  for (const Request& request : ready.requests) {
    if (valid()) TakeRequest(*member, request, now);
  }
  if (!valid()) return;
  owed_[*member] -= std::min<std::uint64_t>(owed_[*member], ready.resent);
  if (join_when_paid_[*member] && owed_[*member] == 0) Join(*member, now);
}

void SetCoordinator::TakePassing(std::size_t member, const Ready& ready, TimePoint now) {
  if (ready.epoch != epoch_) return;
  for (const Request& request : ready.requests) {
    if (PassesPlans(request)) TakeRequest(member, request, now);
  }
}

void SetCoordinator::TakeCached(std::size_t member, const Ready& ready, TimePoint now) {
  Resend resend{set_, epoch_, {}};
  for (std::uint64_t id : ready.cached) {
    if (ready.epoch != epoch_) return;
    const CachedResponse* response = cache_.Find(id);
    if (response == nullptr) {
      resend.ids.push_back(id);
    } else {
      Ask(member, response->requests[member], id, now);
    }
  }
  if (resend.ids.empty()) return;
  owed_[member] += resend.ids.size();
  Append(*out_, {ranks()[member]}, std::move(resend));
}

void SetCoordinator::TakeRequest(std::size_t member, const Request& request, TimePoint now) {
  if (request.kind == Kind::kError) return;
  if (request.kind == Kind::kJoin) {
    TakeJoin(member, request.name, now);
    return;
  }
  const CachedResponse* response = cache_.FindName(request.name);
  if (response != nullptr && *response->requests[member] == request) {
    Ask(member, response->requests[member], response->id, now);
    return;
  }
  if (response != nullptr) cache_.Erase(request.name);
  Ask(member, std::make_shared<const Request>(request), 0, now);
}

void SetCoordinator::Ask(std::size_t member, std::shared_ptr<const Request> request,
                         std::uint64_t cached, TimePoint now) {
  const auto [index, is_new] = by_name_.try_emplace(request->name, arrivals_);
  if (is_new) {
    Pending pending;
    pending.name = request->name;
    pending.requests.resize(ranks().size());
    pending.since = now;
    pending_.emplace(arrivals_++, std::move(pending));
    if (options_->observer != nullptr) {
      options_->observer->NegotiationStarted(request->name, request->kind);
    }
  }
  const auto it = pending_.find(index->second);
  Pending& pending = it->second;
  if (pending.requests[member] != nullptr) return;  // said twice; the first word counts
  if (options_->observer != nullptr) {
    options_->observer->RankReady(pending.name, static_cast<int>(member));
  }
  if (cached != 0) {
    pending.hits = pending.cached == cached ? pending.hits + 1 : 1;
    pending.cached = cached;
  }
  // Equal requests share memory, and are then compared at a glance.
  for (const auto& other : pending.requests) {
    if (other == nullptr) continue;
    if (other != request && *other == *request) request = other;
    break;
  }
  pending.requests[member] = std::move(request);
  ++pending.count;
  Settle(it, now);
}

// --- joins --------------------------------------------------------------------------------------

void SetCoordinator::TakeJoin(std::size_t member, const std::string& name, TimePoint now) {
  if (joined_[member] || join_when_paid_[member]) return;
  if (join_name_.empty()) join_name_ = name;
  // What the member still owes it asked for before it joined; see Ready.
  if (owed_[member] > 0) {
    join_when_paid_[member] = true;
  } else {
    Join(member, now);
  }
}

void SetCoordinator::Join(std::size_t member, TimePoint now) {
  join_when_paid_[member] = false;
  joined_[member] = true;
  ++joined_count_;
  last_joined_ = ranks()[member];
  watcher_.Reset();
  SettleAll(now);
  if (joined_count_ == ranks().size()) CompleteJoin(now);
}

void SetCoordinator::SettleAll(TimePoint now) {
  std::vector<std::uint64_t> arrivals;
  for (const auto& item : pending_) arrivals.push_back(item.first);
  for (std::uint64_t arrival : arrivals) {
    const auto it = pending_.find(arrival);  // a group takes others with it
    if (it != pending_.end()) Settle(it, now);
  }
}

void SetCoordinator::CompleteJoin(TimePoint now) {
  Single join;
  join.bucket.kind = Kind::kJoin;
  join.bucket.last_joined = last_joined_;
  join.bucket.entries.push_back({std::exchange(join_name_, ""), 0, {}, {}});
  ready_.push_back(std::move(join));
  ready_ids_.push_back(0);
  joined_.assign(ranks().size(), false);
  joined_count_ = 0;
  last_joined_ = -1;
  // What was ready because somebody had joined, and waits for its group, is so no longer.
  groups_.clear();
  for (auto& item : pending_) item.second.ready = false;
  SettleAll(now);
}

// --- what is ready ------------------------------------------------------------------------------

bool SetCoordinator::IsReady(const Pending& pending) const {
  if (joined_count_ == 0) return pending.count == ranks().size();
  for (std::size_t m = 0; m < ranks().size(); ++m) {
    if (pending.requests[m] == nullptr && !joined_[m]) return false;
  }
  return true;
}

void SetCoordinator::Settle(Order::iterator it, TimePoint now) {
  Pending& pending = it->second;
  if (pending.ready || !IsReady(pending)) return;
  const auto first = std::find_if(pending.requests.begin(), pending.requests.end(),
                                  [](const auto& request) { return request != nullptr; });
  const std::string group = (*first)->group;
  const auto cut = cut_groups_.find(group);
  const std::size_t group_size = cut != cut_groups_.end() ? cut->second : (*first)->group_size;
  if (group.empty() || group_size <= 1) {
    cut_groups_.erase(group);
    Emit(std::vector{it->first}, now);
    return;
  }
  pending.ready = true;
  auto& members = groups_[group];
  members.push_back(it->first);
  if (members.size() < group_size) return;
  const std::vector<std::uint64_t> whole = std::move(members);
  groups_.erase(group);
  cut_groups_.erase(group);
  Emit(whole, now);
}

// A tensor, or a group. A step ends before it, never in its middle, so that a plan has it whole.
void SetCoordinator::Emit(const std::vector<std::uint64_t>& unit, TimePoint now) {
  if (EndsStep(unit) && watcher_.EndStep() && MayStartPlan()) {
    StartPlan();
    return;
  }
  for (std::uint64_t arrival : unit) Emit(pending_.find(arrival), now);
  if (watcher_.IsProvenStep() && watcher_.EndStep() && MayStartPlan()) StartPlan();
}

void SetCoordinator::Emit(Order::iterator it, TimePoint now) {
  Pending& pending = it->second;
  const CachedResponse* hit = cache_.FindName(pending.name);
  if (hit != nullptr && (hit->id != pending.cached || pending.hits != ranks().size())) {
    hit = nullptr;
  }
  const bool complete = pending.count == ranks().size() && joined_count_ == 0;
  Single single;
  single.bucket = hit != nullptr && complete ? hit->bucket : Validate(pending.requests, validate_);
  for (const auto& request : pending.requests) {
    if (request != nullptr) single.group = request->group;
  }
  if (complete && PlanWatcher::Plannable(single.bucket, ranks().size())) {
    watcher_.Add(single, pending.name, pending.requests, now);
  } else if (!Passes(pending)) {
    watcher_.Reset();
  }
  std::uint64_t id = 0;
  if (hit != nullptr && complete) {
    id = hit->id;
    cache_.Touch(id);
  } else if (complete && ResponseCache::Cacheable(single.bucket.kind)) {
    cache_.Erase(pending.name);
    id = cache_.Insert(pending.name, pending.requests, single.bucket);
  }
  ready_.push_back(std::move(single));
  ready_ids_.push_back(id);
  Forget(it);
}

void SetCoordinator::Forget(Order::iterator it) {
  if (options_->observer != nullptr) options_->observer->NegotiationEnded(it->second.name);
  by_name_.erase(it->second.name);
  pending_.erase(it);
}

// In a new epoch everything is asked for again.
void SetCoordinator::ForgetAll() {
  while (!pending_.empty()) Forget(pending_.begin());
  groups_.clear();
}

bool SetCoordinator::Passes(const Pending& pending) {
  return std::all_of(pending.requests.begin(), pending.requests.end(), [](const auto& request) {
    return request == nullptr || PassesPlans(*request);
  });
}

void SetCoordinator::Flush() {
  if (ready_.empty()) return;
  const fusion::Options options{maker_.fusion_threshold(), options_->disable_group_fusion};
  Assembled all = Fuse(ready_, options);
  Run run;
  run.buckets = std::move(all.buckets);
  maker_.ForRun(run.buckets);
  for (int index : all.order) run.cache_ids.push_back(ready_ids_[index]);
  run.evicted = cache_.TakeForgotten();
  ready_.clear();
  ready_ids_.clear();
  Send(std::move(run));
}

// --- plans --------------------------------------------------------------------------------------

bool SetCoordinator::EndsStep(const std::vector<std::uint64_t>& unit) const {
  return std::any_of(unit.begin(), unit.end(), [this](std::uint64_t arrival) {
    return watcher_.Repeats(pending_.at(arrival).name);
  });
}

bool SetCoordinator::MayStartPlan() const {
  const bool joining =
      joined_count_ > 0 || std::count(join_when_paid_.begin(), join_when_paid_.end(), true) > 0;
  return plans_allowed_ && !joining && cut_groups_.empty() && OnlyPlannedPending();
}

// A plan would be left at once if somebody waits for something else.
bool SetCoordinator::OnlyPlannedPending() const {
  for (const auto& [arrival, pending] : pending_) {
    for (std::size_t m = 0; m < ranks().size(); ++m) {
      const auto& request = pending.requests[m];
      if (request == nullptr || PassesPlans(*request)) continue;
      if (!watcher_.Fits(*request, m)) return false;
    }
  }
  return true;
}

void SetCoordinator::StartPlan() {
  Flush();
  negotiation::StartPlan plan;
  const std::vector<Single> step = watcher_.Step();
  plan.epoch = ++epoch_;
  plan.buckets = maker_.Make(step, plan.epoch, watcher_.cautious());
  std::unordered_map<std::string, std::string> group_of;
  for (const Single& single : step) group_of[single.bucket.entries.front().name] = single.group;
  planned_groups_.assign(plan.buckets.size(), {});
  for (std::size_t b = 0; b < plan.buckets.size(); ++b) {
    for (const Entry& entry : plan.buckets[b].entries) {
      planned_groups_[b].push_back(group_of[entry.name]);
    }
  }
  asked_to_leave_ = left_for_better_ = false;
  watcher_.PlanStarted();
  ForgetAll();
  owed_.assign(ranks().size(), 0);
  Send(std::move(plan));
}

void SetCoordinator::OnMeasured(const Measured& bucket) {
  const bool of_plan = in_plan() && bucket.planned && bucket.epoch == epoch_ && !asked_to_leave_;
  const std::optional<std::string> why = maker_.OnMeasured(bucket, of_plan);
  if (!why || !plans_allowed_) return;
  left_for_better_ = true;
  AskToLeave(*why);
}

void SetCoordinator::AskToLeave(std::string why) {
  asked_to_leave_ = true;
  why_asked_ = std::move(why);
  Send(PleaseLeave{set_, epoch_});
}

Status SetCoordinator::OnLeave(std::int32_t from, const Leave& leave) {
  if (!MemberOf(from)) return Status::Ok();
  if (!in_plan() || leave.epoch != epoch_) {
    // Somebody else left first. Nobody can have finished a bucket to which another gave nothing, so
    // all who leave name the same one.
    const bool late = !in_plan() && epoch_ > 0 && leave.epoch == epoch_ - 1;
    if (!late || leave.bucket == last_end_) return Status::Ok();
    return Status::Unknown("negotiation: rank " + std::to_string(from) + " left the plan of set " +
                           std::to_string(set_) + " before bucket " + std::to_string(leave.bucket) +
                           ", another rank before bucket " + std::to_string(last_end_));
  }
  Flush();  // what passes the plan, and is agreed on
  ForgetAll();
  last_end_ = leave.bucket;
  watcher_.PlanEnded(leave.bucket / planned_groups_.size(), left_for_better_);
  RememberCutGroups(leave.bucket);
  const std::string why =
      asked_to_leave_ ? why_asked_ : "rank " + std::to_string(from) + ": " + leave.why;
  HVDX_LOG(kDebug) << "set " << set_ << ": the plan ends before bucket " << leave.bucket << ": "
                   << why;
  if (options_->observer != nullptr) options_->observer->PlanEnded(set_, leave.bucket, why);
  Send(EndPlan{set_, ++epoch_, leave.bucket});
  return Status::Ok();
}

// A group's tensors that do not mix stand in several buckets. If the plan ends between them, those
// that have run will not be asked for again, and the others must not wait for them.
void SetCoordinator::RememberCutGroups(std::uint64_t end) {
  const std::size_t cut = end % planned_groups_.size();
  std::set<std::string> begun;
  for (std::size_t b = 0; b < cut; ++b) {
    begun.insert(planned_groups_[b].begin(), planned_groups_[b].end());
  }
  begun.erase("");
  for (std::size_t b = cut; b < planned_groups_.size(); ++b) {
    for (const std::string& group : planned_groups_[b]) {
      if (begun.contains(group)) ++cut_groups_[group];
    }
  }
}

void SetCoordinator::OnStuck(std::int32_t from, const Stuck& stuck) {
  if (!MemberOf(from) || !in_plan() || stuck.epoch != epoch_ || asked_to_leave_) return;
  AskToLeave("rank " + std::to_string(from) + " waited for long for others in bucket " +
             std::to_string(stuck.bucket % planned_groups_.size()));
}

void SetCoordinator::EndPlans() {
  plans_allowed_ = false;
  if (in_plan() && !asked_to_leave_) AskToLeave("the job ends, or the set is removed");
}

// --- stalls -------------------------------------------------------------------------------------

TimePoint SetCoordinator::next_check() const {
  if (!options_->stall_check || pending_.empty()) return TimePoint::max();
  return stalls_.NextCheck(pending_.begin()->second.since);
}

std::optional<StallReport> SetCoordinator::CheckStalls(TimePoint now) {
  if (now < next_check()) return std::nullopt;
  std::vector<WaitingTensor> waiting;
  for (const auto& [arrival, pending] : pending_) {
    WaitingTensor tensor{pending.name, pending.since, {}};
    for (std::size_t m = 0; m < ranks().size(); ++m) {
      if (pending.requests[m] == nullptr && !joined_[m]) tensor.missing.push_back(ranks()[m]);
    }
    waiting.push_back(std::move(tensor));
  }
  return stalls_.Check(waiting, now);
}

}  // namespace horovodx::negotiation

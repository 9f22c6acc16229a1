#include "tests/horovodx/negotiation/sim_world.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace horovodx::negotiation::sim {

World::World(const Job& job, std::uint64_t seed)
    : job_(job), random_(seed ^ 0x5eedu), now_(TimePoint() + std::chrono::hours(1)) {
  auto sets = job.coordinator.sets;
  if (sets.empty()) {
    sets.emplace_back(job.coordinator.size);
    std::iota(sets[0].begin(), sets[0].end(), 0);
  }
  coordinator_ = std::make_unique<Coordinator>(job.coordinator);
  ranks_.resize(job.coordinator.size);
  last_up_.assign(ranks_.size(), now_);
  last_down_.assign(ranks_.size(), now_);
  for (std::size_t set = 0; set < sets.size(); ++set) {
    for (std::int32_t rank : sets[set]) {
      MemberOptions options = job.member;
      options.set = static_cast<std::int32_t>(set);
      ranks_[rank].sets[options.set].member = std::make_unique<Member>(options);
    }
  }
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    for (const Op& op : job.scripts[rank]) {
      for (const Request& r : op.requests) {
        uses_[{op.set, r.name}][static_cast<int>(rank)].push_back(r);
      }
    }
    Wake(static_cast<int>(rank));
  }
  if (job.early_shutdown > Duration::zero()) {
    At(now_ + job.early_shutdown, [this] { SendUp(0, WantShutdown{}); });
  }
}

std::string World::Run() {
  const TimePoint limit = now_ + std::chrono::hours(3);
  while (!queue_.empty() && wrong_.empty()) {
    Event event = queue_.top();
    queue_.pop();
    now_ = event.at;
    if (now_ > limit) Fail("takes too long");
    event.act();
  }
  if (wrong_.empty()) CheckEnd();
  return wrong_;
}

void World::Fail(const std::string& what) {
  if (wrong_.empty()) wrong_ = what;
}

void World::At(TimePoint at, std::function<void()> act) {
  queue_.push({at, events_++, std::move(act)});
}

Duration World::Delay() {
  const auto most = std::chrono::nanoseconds(job_.most_delay).count();
  // Mostly short, now and then long.
  return std::chrono::nanoseconds(Draw(random_, 1, Chance(random_, 5) ? 20 * most : most));
}

void World::Wake(int rank) {
  if (std::exchange(ranks_[rank].awake, true)) return;
  At(now_ + std::chrono::nanoseconds(Draw(random_, 1, 3000)), [this, rank] { Turn(rank); });
}

// One turn of a rank's engine.
void World::Turn(int rank) {
  Rank& self = ranks_[rank];
  self.awake = false;
  if (self.closed) return;
  while (RunScript(rank)) {
  }
  for (auto& [set, state] : self.sets) {
    if (now_ >= state.member->next_time()) state.member->OnTime(now_);
    if (!self.drained) Advance(rank, set);
    for (UpMessage& message : state.member->TakeMessages()) {
      if (!self.stopping) SendUp(rank, std::move(message));
    }
    const TimePoint next = state.member->next_time();
    if (next != TimePoint::max() && next != state.timer) {
      state.timer = next;
      At(std::max(next, now_), [this, rank] { Wake(rank); });
    }
  }
  MayDrain(rank);
  MayShutDown();
}

// --- scripts ------------------------------------------------------------------------------------

bool World::RunScript(int rank) {
  Rank& self = ranks_[rank];
  if (self.stopping || self.at >= job_.scripts[rank].size() || now_ < self.sleeps_until) {
    return false;
  }
  if (!Do(rank, job_.scripts[rank][self.at])) return false;
  ++self.at;
  return now_ >= self.sleeps_until;
}

// False if the rank is blocked.
bool World::Do(int rank, const Op& op) {
  Rank& self = ranks_[rank];
  switch (op.kind) {
    case Op::Kind::kSubmit:
      for (const Request& request : op.requests) {
        RankSet& state = self.sets.at(op.set);
        if (!state.outstanding.insert(request.name).second) Fail("script submits a name twice");
        ++state.uses[request.name];
        state.member->Submit(request, now_);
      }
      return true;
    case Op::Kind::kWait:
    case Op::Kind::kPoll: {
      RankSet& state = self.sets.at(op.set);
      if (!state.outstanding.contains(op.name)) return true;
      state.member->Waited(op.name);
      return op.kind == Op::Kind::kPoll;
    }
    case Op::Kind::kWaitAll: {
      for (auto& [set, state] : self.sets) {
        if (state.outstanding.empty()) continue;
        state.member->Waited(*state.outstanding.begin());
        return false;
      }
      return true;
    }
    case Op::Kind::kSleep:
      self.sleeps_until = now_ + op.sleep;
      At(self.sleeps_until, [this, rank] { Wake(rank); });
      return true;
  }
  return true;
}

// --- messages -----------------------------------------------------------------------------------

void World::SendUp(int rank, UpMessage message) {
  if (!shutdown_wanted_) ++stats_.messages;
  if (std::holds_alternative<Stuck>(message)) ++stats_.stuck;
  if (const auto* ready = std::get_if<Ready>(&message)) stats_.resent += ready->resent;
  last_up_[rank] = std::max(last_up_[rank], now_ + Delay());
  At(last_up_[rank], [this, rank, m = std::move(message)] { Arrive(rank, m); });
}

void World::Arrive(int rank, const UpMessage& message) {
  coordinator_->OnMessage(rank, message, now_);
  // What arrives within the same moment is answered together, as by a real engine.
  At(now_ + std::chrono::microseconds(1), [this] { SendDown(); });
}

void World::SendDown() {
  for (Outgoing& record : coordinator_->TakeMessages()) {
    if (std::holds_alternative<StartPlan>(record.message)) ++stats_.plans;
    for (std::int32_t rank : record.to) {
      if (!shutdown_wanted_) ++stats_.messages;
      last_down_[rank] = std::max(last_down_[rank], now_ + Delay());
      At(last_down_[rank], [this, rank, m = record.message] { Receive(rank, m); });
    }
  }
}

void World::Receive(int rank, const DownMessage& message) {
  Rank& self = ranks_[rank];
  if (self.closed) Fail("a message after Close");
  if (std::holds_alternative<Failed>(message)) Fail("failed: " + std::get<Failed>(message).why);
  if (std::holds_alternative<Shutdown>(message)) self.stopping = true;
  if (std::holds_alternative<Close>(message)) self.closed = true;
  std::visit(
      [&](const auto& m) {
        if constexpr (requires { m.set; }) {
          const Status status = self.sets.at(m.set).member->OnMessage(m, now_);
          if (!status.ok()) Fail("rank " + std::to_string(rank) + ": " + status.message());
        }
      },
      message);
  Wake(rank);
}

// When all have done what they wanted, somebody ends it.
void World::MayShutDown() {
  if (shutdown_wanted_ || job_.early_shutdown > Duration::zero()) return;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (ranks_[rank].at < job_.scripts[rank].size()) return;
  }
  shutdown_wanted_ = true;
  SendUp(static_cast<int>(Draw(random_, 0, std::int64_t(ranks_.size()) - 1)), WantShutdown{});
}

void World::MayDrain(int rank) {
  Rank& self = ranks_[rank];
  if (!self.stopping || self.drained) return;
  for (auto& [set, state] : self.sets) {
    if (!state.member->idle()) return;
  }
  self.drained = true;
  SendUp(rank, Drained{});
}

}  // namespace horovodx::negotiation::sim

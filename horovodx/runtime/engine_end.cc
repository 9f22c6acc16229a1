// What comes down from the coordinator, and how an engine ends: shutdown and failure.
#include <algorithm>
#include <utility>

#include "horovodx/base/log.h"
#include "horovodx/runtime/engine.h"

namespace horovodx::runtime {
namespace {

// The set a message is about, or -1.
int SetOf(const negotiation::DownMessage& message) {
  return std::visit(
      [](const auto& m) -> int {
        if constexpr (
            requires { m.buckets; } || requires { m.epoch; }) {
          return m.set;
        } else {
          return -1;
        }
      },
      message);
}

Status ShutDown(const std::string& why) {
  return Status::Unknown("Horovod has been shut down" + (why.empty() ? "." : ": " + why));
}

}  // namespace

void Engine::OnDown(const negotiation::DownMessage& message, TimePoint now) {
  using namespace negotiation;
  if (phase_ == Phase::kFailing || phase_ == Phase::kStopped) return;
  if (const auto* failed = std::get_if<Failed>(&message)) {
    if (phase_ == Phase::kRunning) return Fail(failed->rank, failed->why);
    return OnLostWhileEnding(*failed, now);
  }
  if (const auto* added = std::get_if<SetAdded>(&message)) return OnSetAdded(*added);
  if (const auto* removed = std::get_if<SetRemoved>(&message)) return OnSetRemoved(removed->set);
  if (const auto* refused = std::get_if<SetRefused>(&message)) {
    return AnswerSetCall(refused->code, refused->why);
  }
  if (const auto* shutdown = std::get_if<negotiation::Shutdown>(&message)) {
    phase_ = Phase::kDraining;
    end_reason_ = ShutDown(shutdown->why);
    queue_.RefuseOnEngine(end_reason_);
    drain_limit_ = now + options_.shutdown_limit;
    return;
  }
  if (std::holds_alternative<Close>(message)) {
    fabric_->courier().ExpectGoodbyes();
    phase_ = Phase::kStopped;
    return;
  }
  const auto it = sets_.find(SetOf(message));
  if (it == sets_.end()) return;  // a set removed meanwhile
  if (std::holds_alternative<StartPlan>(message)) {
    plans_started_.fetch_add(1);
    NoteCosts();
    if (options_.timeline) ExpectByPlan(it->first);
  }
  if (std::holds_alternative<EndPlan>(message)) plans_left_.fetch_add(1);
  const Status status = it->second->member().OnMessage(message, now);
  if (!status.ok()) Fail(rank(), status.message());
}

void Engine::OnSetAdded(const negotiation::SetAdded& added) {
  std::vector<int> ranks(added.ranks.begin(), added.ranks.end());
  process_sets_.Add(added.set, ranks);
  const bool member = std::find(ranks.begin(), ranks.end(), rank()) != ranks.end();
  queue_.OpenSet(added.set, ranks);
  if (!member) return AnswerSetCall(added.set, "");
  // The caller is answered when the set is connected, so that the next one is made after it.
  sets_[added.set] =
      std::make_unique<SetRunner>(ForSet(added.set, added.channel, std::move(ranks)), *fabric_);
  connecting_set_ = added.set;
}

void Engine::AnswerSetCall(int answer, const std::string& why) {
  {
    MutexLock lock(wishes_mutex_);
    set_answer_ = answer;
    set_why_ = why;
    set_answered_ = true;
  }
  Bell(&finished_word_).Ring();
}

void Engine::OnSetRemoved(int set) {
  queue_.CloseSet(set);
  process_sets_.Remove(set);
  if (const auto it = sets_.find(set); it != sets_.end()) {
    // All ranks have agreed to remove it, so what it still has will never be answered.
    const Status why = Status::Aborted("Process set has been removed");
    while (!it->second->Fail(why, completions_)) std::this_thread::yield();
    sets_.erase(it);
  }
  AnswerSetCall(set, "");
}

bool Engine::DrainForShutdown() {
  for (auto& [id, runner] : sets_) {
    if (!runner->drained() && Clock::now() < drain_limit_) return false;
  }
  for (auto& [id, runner] : sets_) {
    if (!runner->Fail(end_reason_, completions_)) return false;
  }
  control_->SendUp(negotiation::Drained{});
  phase_ = Phase::kDrained;
  return true;
}

void Engine::OnLostWhileEnding(const negotiation::Failed& lost, TimePoint now) {
  // Nobody waits for it: the coordinator need not, and without the way to it there is no Close.
  HVDX_LOG_RANK(kInfo, rank()) << "shutdown: " << lost.why;
  failed_.store(true, std::memory_order_release);  // MPI's own end would wait for it, for ever
  control_->SendUp(negotiation::Lost{lost.rank, lost.why});
  if (control_->LeadsUp(lost.rank)) drain_limit_ = now;
}

bool Engine::GiveUpOnShutdown() {
  if (phase_ == Phase::kRunning) {
    Fail(rank(), "the other ranks did not answer a shutdown in time");
  } else if (phase_ == Phase::kDrained) {
    HVDX_LOG_RANK(kWarning, rank()) << "shutdown: not all ranks have finished in time";
    failed_.store(true, std::memory_order_release);
    phase_ = Phase::kStopped;
  } else {
    return false;
  }
  return true;
}

void Engine::Fail(int culprit, const std::string& why) {
  if (phase_ == Phase::kFailing || phase_ == Phase::kStopped) return;
  phase_ = Phase::kFailing;
  broken_limit_ = TimePoint::max();
  failed_.store(true, std::memory_order_release);
  end_reason_ = ShutDown(why);
  HVDX_LOG_RANK(kError, rank()) << "Horovod background loop uncaught exception: " << why;
  queue_.RefuseOnEngine(end_reason_);
  control_->SpreadFailure(culprit, why);
  fabric_->courier().ExpectGoodbyes();
}

bool Engine::EndFailing() {
  for (auto& [id, runner] : sets_) {
    if (!runner->Fail(end_reason_, completions_)) return false;
  }
  fabric_->courier().Flush(1.0);
  phase_ = Phase::kStopped;
  return true;
}

void Engine::Shutdown() {
  {
    MutexLock lock(wishes_mutex_);
    wishes_.shutdown = true;
    has_wishes_.store(true, std::memory_order_release);
  }
  WakeEngine();
  MutexLock lock(shutdown_mutex_);
  if (thread_.joinable()) thread_.join();
  timeline_.Stop();
}

}  // namespace horovodx::runtime

// The engine thread and one turn of the engine. See also engine_callers.cc (what other threads
// call), engine_start.cc (connecting) and engine_end.cc (shutdown and failure).
#include "horovodx/runtime/engine.h"

#include <algorithm>
#include <utility>

#include "horovodx/base/log.h"
#include "horovodx/runtime/describe.h"

namespace horovodx::runtime {

using negotiation::DownMessage;

void Engine::Loop() {
  const Bell bell = fabric_->bell();
  while (true) {
    ParkWhileCallersDrive();
    drive_.Lock();
    engine_wanted_.store(false);
    bool moved = Turn();
    RunCallbacks();
    if (!moved && phase_ != Phase::kStopped) {
      MoveToLanes();
      // Listen, look once more, sleep: whatever rings from here on is not missed.
      Bell::Listener listener(bell);
      moved = Turn();
      RunCallbacks();
      const Deadline until = Deadline::At(NextTime());
      const bool stop = phase_ == Phase::kStopped;
      drive_.Unlock();
      if (stop) break;
      if (!moved && !engine_wanted_.load()) listener.Sleep(until);
      continue;
    }
    const bool stop = phase_ == Phase::kStopped;
    drive_.Unlock();
    if (stop) break;
  }
  stopped_.store(true, std::memory_order_release);
  Bell(&finished_word_).Ring();
}

bool Engine::Turn() {
  if (phase_ == Phase::kStopped) return false;
  const TimePoint now = Clock::now();
  bool moved = false;
  // Wishes are taken before submissions and followed after them: a caller that waits has submitted
  // everything it wants to have under way, and all of that must be in before its wait counts.
  Wishes wishes;
  if (has_wishes_.load(std::memory_order_acquire)) wishes = TakeWishes();
  if (queue_.HasNew()) moved |= TakeSubmissions(now);
  if (!wishes.empty()) moved |= Follow(wishes);
  moved |= TurnControl(now);
  moved |= TurnSets(now);
  if (now >= broken_limit_) Fail(rank(), broken_.message());
  if (phase_ == Phase::kDraining) moved |= DrainForShutdown();
  if (phase_ == Phase::kFailing) moved |= EndFailing();
  if (now >= drain_limit_) moved |= GiveUpOnShutdown();
  // Nobody can submit any more; who came in just before is told so too.
  if (phase_ == Phase::kStopped && queue_.HasNew()) TakeSubmissions(now);
  if (!completions_.empty()) CompleteAll();
  return moved;
}

bool Engine::TakeSubmissions(TimePoint now) {
  queue_.DrainOnEngine(drained_);
  for (OperationPtr& operation : drained_) {
    const auto it = sets_.find(operation->what.set);
    if (it == sets_.end() || phase_ != Phase::kRunning) {
      const Status why =
          end_reason_.ok() ? Status::Aborted("Process set has been removed") : end_reason_;
      completions_.push_back({std::move(operation), why});
      continue;
    }
    it->second->Submit(operation, now);
  }
  // All are in before any is waited for: the last one may be what the first one's bucket needs.
  for (const OperationPtr& operation : drained_) {
    if (operation != nullptr && operation->waited_from_start) {
      sets_[operation->what.set]->member().Waited(operation->what.request.name);
    }
  }
  drained_.clear();
  return true;
}

Engine::Wishes Engine::TakeWishes() {
  MutexLock lock(wishes_mutex_);
  has_wishes_.store(false, std::memory_order_relaxed);
  return std::exchange(wishes_, {});
}

bool Engine::Follow(Wishes& wishes) {
  for (const OperationPtr& operation : wishes.waited) {
    if (operation->finished.load(std::memory_order_acquire)) continue;
    const auto it = sets_.find(operation->what.set);
    if (it != sets_.end()) it->second->member().Waited(operation->what.request.name);
  }
  for (auto& message : wishes.set_messages) control_->SendUp(std::move(message));
  for (const auto& question : wishes.questions) Answer(*question);
  if (wishes.shutdown && phase_ == Phase::kRunning) {
    control_->SendUp(negotiation::WantShutdown{});
    drain_limit_ = Clock::now() + options_.shutdown_limit;
  }
  return true;
}

void Engine::Answer(Question& question) {
  if (const negotiation::AlgorithmChoice* choice = control_->choice(0)) {
    question.answer =
        runtime::Describe(question.what, {*choice, *control_->meter(0), sets_.at(0)->has_stage()});
  }
  question.answered.store(true, std::memory_order_release);
  Bell(&finished_word_).Ring();
}

bool Engine::TurnSets(TimePoint now) {
  if (phase_ == Phase::kFailing || !broken_.ok()) return false;
  bool moved = false;
  window_shut_ = options_.cycle_time != Duration::zero() && now < next_window_;
  bool sent = false;
  for (auto& [id, runner] : sets_) {
    if (now >= runner->member().next_time()) runner->OnTime(now);
    auto turned = runner->Turn(now, completions_);
    if (!turned.ok()) {
      broken_ = turned.status();
      broken_limit_ = now + options_.wait_for_news;
      return true;
    }
    moved |= *turned;
    for (const auto& bucket : runner->TakeMeasured()) control_->OnMeasured(bucket);
    if (tuning_log_ != nullptr) NoteTuning();
    if (!window_shut_) {
      for (auto& message : runner->member().TakeMessages()) {
        control_->SendUp(std::move(message));
        sent = true;
      }
    }
    TuneWaking(id, *runner);
    if (id == connecting_set_ && runner->connected()) {
      connecting_set_ = -1;
      AnswerSetCall(id, "");
    }
  }
  if (sent) {
    next_window_ = now + options_.cycle_time;
    timeline_.MarkCycle();
  }
  return moved || sent;
}

// When a plan starts: fitting costs more than a bucket should be held up for.
void Engine::NoteCosts() {
  const negotiation::PlanMeter* meter = control_->meter(0);
  if (meter == nullptr) return;
  const auto ns = [](double seconds) { return static_cast<std::int64_t>(1e9 * seconds); };
  const schedule::CostModel cost = meter->cost();
  plans_made_anew_.store(static_cast<std::int64_t>(meter->made_anew()), std::memory_order_relaxed);
  cost_samples_.store(static_cast<std::int64_t>(meter->samples()), std::memory_order_relaxed);
  cost_of_nothing_ns_.store(ns(cost.Seconds(0)), std::memory_order_relaxed);
  cost_of_mebibyte_ns_.store(ns(cost.Seconds(1 << 20)), std::memory_order_relaxed);
}

void Engine::NoteTuning() {
  for (const tuning::Tried& tried : control_->TakeScores()) tuning_log_->Add(tried);
}

void Engine::ExpectByPlan(int set) {
  const negotiation::PlanMeter* meter = control_->meter(set);
  if (meter != nullptr) sets_.at(set)->Expect(meter->predicted());
}

void Engine::TuneWaking(int set, SetRunner& runner) {
  // With tensors outstanding, a planned set needs no attention before its next bucket is complete;
  // the first tensor of a step is always heard, so that the member's patience starts to run.
  const std::size_t wanted =
      runner.has_tensors() ? std::max<std::size_t>(runner.member().missing(), 1) : 1;
  if (runner.wake_after == wanted) return;
  runner.wake_after = wanted;
  queue_.WakeAfterOnEngine(set, wanted);
}

bool Engine::TurnControl(TimePoint now) {
  down_.clear();
  auto moved = control_->Turn(now, down_);
  for (const DownMessage& message : down_) OnDown(message, now);
  control_sent_.store(static_cast<std::int64_t>(control_->sent()), std::memory_order_relaxed);
  control_received_.store(static_cast<std::int64_t>(control_->received()),
                          std::memory_order_relaxed);
  if (!moved.ok()) {
    Fail(rank(), moved.status().message());
    return true;
  }
  return *moved;
}

void Engine::CompleteAll() {
  for (Completion& completion : completions_) {
    Operation& operation = *completion.operation;
    queue_.ReleaseOnEngine(operation);
    operation.status = std::move(completion.status);
    if (operation.what.done != nullptr) callbacks_.push_back(completion.operation);
    operation.finished.store(true, std::memory_order_release);
  }
  completions_.clear();
  Bell(&finished_word_).Ring();
}

void Engine::RunCallbacks() {
  if (callbacks_.empty()) return;
  std::vector<OperationPtr> ended;
  ended.swap(callbacks_);
  drive_.Unlock();
  for (const OperationPtr& operation : ended) {
    auto done = std::move(operation->what.done);
    done(operation->status);
  }
  drive_.Lock();
}

TimePoint Engine::NextTime() const {
  TimePoint next = std::min(control_->next_time(), broken_limit_);
  if (phase_ == Phase::kRunning || phase_ == Phase::kDraining || phase_ == Phase::kDrained) {
    next = std::min(next, drain_limit_);
  }
  if (!broken_.ok()) return next;  // sets are not turned any more
  for (const auto& [id, runner] : sets_) {
    next = std::min(next, runner->member().next_time());
    next = std::min(next, runner->time_limit());
  }
  // Once it is open nothing waits for it any more.
  if (window_shut_ && WorkLeft()) next = std::min(next, next_window_);
  return next;
}

bool Engine::WorkLeft() const {
  if (phase_ != Phase::kRunning || control_->has_unsent()) return true;
  return std::any_of(sets_.begin(), sets_.end(),
                     [](const auto& entry) { return entry.second->busy(); });
}

bool Engine::OnLinks() const {
  return std::any_of(sets_.begin(), sets_.end(),
                     [](const auto& entry) { return entry.second->on_links(); });
}

void Engine::NapOnLinks(Duration most) {
  SetRunner* busy = nullptr;
  for (auto& [id, runner] : sets_) {
    if (!runner->busy()) continue;
    if (busy != nullptr) return;  // it would sleep through what the other one waits for
    busy = runner.get();
  }
  if (busy != nullptr) busy->NapOnLinks(most);
}

void Engine::MoveToLanes() {
  for (auto& [id, runner] : sets_) runner->MoveToLane();
}

bool Engine::Stirred() {
  if (queue_.HasNew() || control_->HasMail()) return true;
  return std::any_of(sets_.begin(), sets_.end(),
                     [](const auto& entry) { return entry.second->Stirred(); });
}

void Engine::DriveUntil(const Operation& operation, const Deadline& deadline) {
  const Bell bell = fabric_->bell();
  TimePoint last_moved = Clock::now();
  while (!operation.finished.load(std::memory_order_acquire) && !deadline.Passed()) {
    const bool moved = Turn();
    RunCallbacks();
    const TimePoint now = Clock::now();
    if (moved) {
      last_moved = now;
      continue;
    }
    if (phase_ == Phase::kStopped) continue;
    // It calls back under the lock that is held here, which the analysis cannot see.
    const auto stirred = [&]() HVDX_NO_THREAD_SAFETY_ANALYSIS { return Stirred(); };
    const auto nap = [&](Duration most) HVDX_NO_THREAD_SAFETY_ANALYSIS { NapOnLinks(most); };
    if (idle_wait_.Pause(now, last_moved, OnLinks(), stirred, nap)) continue;
    MoveToLanes();
    Bell::Listener listener(bell);
    if (Turn() || operation.finished.load(std::memory_order_acquire)) {
      last_moved = Clock::now();
      continue;
    }
    listener.Sleep(Deadline::At(std::min(NextTime(), deadline.at())));
  }
}

}  // namespace horovodx::runtime

// What callers' threads do: submit, poll, wait, and take the wheel while they wait.
#include <algorithm>
#include <utility>

#include "horovodx/runtime/engine.h"

namespace horovodx::runtime {
namespace {

// For so long after a caller has driven, the engine thread stays away from the wheel unless it is
// asked: blocking calls tend to come one after the other, and each would pay for waking it. As long
// as they do come, it looks after them ever more seldom.
constexpr Duration kStayParked = std::chrono::microseconds(250);
constexpr Duration kLongestNap = std::chrono::milliseconds(2);

std::int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
      .count();
}

}  // namespace

Status Engine::PushOperations(std::span<const OperationPtr> operations, bool quietly) {
  bool worth_waking = false;
  HVDX_RETURN_IF_ERROR(queue_.Push(operations, worth_waking));
  if (worth_waking && !quietly) WakeEngine();
  return Status::Ok();
}

Result<OperationPtr> Engine::Submit(Submission submission) {
  auto operation = std::make_shared<Operation>(std::move(submission));
  HVDX_RETURN_IF_ERROR(Submit(operation));
  return operation;
}

Status Engine::Submit(const OperationPtr& operation) {
  return PushOperations({&operation, 1}, /*quietly=*/false);
}

Result<std::vector<OperationPtr>> Engine::SubmitGroup(std::vector<Submission> submissions) {
  std::vector<OperationPtr> operations;
  const auto size = static_cast<std::uint32_t>(submissions.size());
  const std::string group = size > 0 ? submissions[0].request.name : "";
  for (Submission& submission : submissions) {
    submission.request.group = group;
    submission.request.group_size = size;
    operations.push_back(std::make_shared<Operation>(std::move(submission)));
  }
  HVDX_RETURN_IF_ERROR(PushOperations(operations, /*quietly=*/false));
  return operations;
}

Status Engine::Run(const OperationPtr& operation, const Deadline& deadline) {
  operation->waited_from_start = true;
  operation->waited.store(true, std::memory_order_relaxed);
  HVDX_RETURN_IF_ERROR(PushOperations({&operation, 1}, /*quietly=*/true));
  Wait(operation, deadline);
  return Status::Ok();
}

bool Engine::Poll(const OperationPtr& operation) {
  if (operation->finished.load(std::memory_order_acquire)) return true;
  if (NoteWaited(operation)) WakeEngine();
  return false;
}

bool Engine::NoteWaited(const OperationPtr& operation) {
  if (operation->waited.exchange(true)) return false;
  MutexLock lock(wishes_mutex_);
  wishes_.waited.push_back(operation);
  has_wishes_.store(true, std::memory_order_release);
  return true;
}

bool Engine::Wait(const OperationPtr& operation, const Deadline& deadline) {
  if (operation->finished.load(std::memory_order_acquire)) return true;
  NoteWaited(operation);
  while (!operation->finished.load(std::memory_order_acquire)) {
    if (drive_.TryLock()) {
      callers_driving_.fetch_add(1);
      drives_.fetch_add(1);
      DriveUntil(*operation, deadline);
      const bool hand_over = WorkLeft();
      callers_driving_.fetch_sub(1);
      last_driven_.store(NowNs(), std::memory_order_relaxed);
      drive_.Unlock();
      Bell(&driven_word_).Ring();
      Bell(&finished_word_).Ring();  // another waiting caller may drive now
      if (hand_over) WakeEngine();
    } else {
      WakeEngine();
      Bell::Listener listener{Bell(&finished_word_)};
      if (operation->finished.load(std::memory_order_acquire)) break;
      // The limit is for the moment between two drivers; normally the ring comes first.
      const auto look_again = Clock::now() + std::chrono::milliseconds(10);
      listener.Sleep(Deadline::At(std::min(deadline.at(), look_again)));
    }
    if (deadline.Passed()) return operation->finished.load(std::memory_order_acquire);
  }
  return true;
}

void Engine::WakeEngine() {
  engine_wanted_.store(true);
  Bell(&park_word_).Ring();
  fabric_->bell().Ring();
}

void Engine::ParkWhileCallersDrive() {
  const auto stay = std::chrono::duration_cast<std::chrono::nanoseconds>(kStayParked).count();
  Duration nap = kStayParked;
  std::uint64_t seen = 0;  // drives
  while (true) {
    // One drive that lasts is slept through. Many short ones are not watched one by one: each would
    // have to ring at its end.
    if (drives_.load() == seen) AwaitEndOfDrive();
    Bell::Listener listener{Bell(&park_word_)};
    seen = drives_.load();
    if (callers_driving_.load() == 0 &&
        (engine_wanted_.load() || NowNs() - last_driven_.load() >= stay)) {
      return;
    }
    listener.Sleep(Deadline::After(nap));
    nap = std::min(2 * nap, kLongestNap);
  }
}

// However long it takes: looking every now and then would cost the driver's peers their core.
void Engine::AwaitEndOfDrive() {
  while (callers_driving_.load() > 0) {
    Bell::Listener listener{Bell(&driven_word_)};
    if (callers_driving_.load() > 0) listener.Sleep(Deadline::Never());
  }
}

int Engine::CallForSet(negotiation::UpMessage message, std::string& why) {
  MutexLock one_at_a_time(set_calls_);
  {
    MutexLock lock(wishes_mutex_);
    wishes_.set_messages.push_back(std::move(message));
    set_answered_ = false;
    has_wishes_.store(true, std::memory_order_release);
  }
  WakeEngine();
  Bell::Listener listener{Bell(&finished_word_)};
  while (true) {
    {
      MutexLock lock(wishes_mutex_);
      if (set_answered_) {
        why = set_why_;
        return set_answer_;
      }
    }
    if (stopped()) {
      why = "Horovod is shutting down.";
      return ProcessSets::kShutDown;
    }
    listener.Sleep(Deadline::After(std::chrono::seconds(1)));
  }
}

std::string Engine::Describe(const std::string& what) {
  auto question = std::make_shared<Question>();
  question->what = what;
  {
    MutexLock lock(wishes_mutex_);
    wishes_.questions.push_back(question);
    has_wishes_.store(true, std::memory_order_release);
  }
  WakeEngine();
  Bell::Listener listener{Bell(&finished_word_)};
  while (!question->answered.load(std::memory_order_acquire)) {
    if (stopped()) return "";
    listener.Sleep(Deadline::After(std::chrono::seconds(1)));
  }
  return question->answer;
}

int Engine::AddProcessSet(std::vector<int> ranks, std::string& why) {
  if (!options_.dynamic_process_sets) {
    why = "Set HOROVOD_DYNAMIC_PROCESS_SETS=1 to add process sets after init.";
    return ProcessSets::kNotDynamic;
  }
  std::sort(ranks.begin(), ranks.end());
  return CallForSet(negotiation::AddSet{{ranks.begin(), ranks.end()}}, why);
}

int Engine::RemoveProcessSet(int set, std::string& why) {
  if (!options_.dynamic_process_sets) {
    why = "Set HOROVOD_DYNAMIC_PROCESS_SETS=1 to remove process sets after init.";
    return ProcessSets::kNotDynamic;
  }
  if (process_sets_.SizeOf(set) < 0 || set == 0) {
    why = "Process set " + std::to_string(set) + " does not exist or cannot be removed.";
    return ProcessSets::kUnknownSet;
  }
  return CallForSet(negotiation::RemoveSet{set}, why);
}

std::int64_t Engine::Counter(const std::string& name) const {
  const std::map<std::string, const std::atomic<std::int64_t>*> counters = {
      {"control_messages_sent", &control_sent_}, {"control_messages_received", &control_received_},
      {"plans_started", &plans_started_},        {"plans_left", &plans_left_},
      {"buckets_planned", &buckets_.planned},    {"buckets_negotiated", &buckets_.negotiated},
      {"plans_made_anew", &plans_made_anew_},    {"cost_samples", &cost_samples_},
      {"cost_0_ns", &cost_of_nothing_ns_},       {"cost_1mib_ns", &cost_of_mebibyte_ns_},
  };
  const auto it = counters.find(name);
  return it == counters.end() ? -1 : it->second->load(std::memory_order_relaxed);
}

}  // namespace horovodx::runtime

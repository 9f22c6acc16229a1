// Engine: the background coordination thread, and everything it owns.
//
// Life of a tensor: Submit puts it into the queue and rings; whoever drives the engine takes it
// out, hands it to its process set's member, which by plan or by negotiation puts it into a bucket;
// the bucket runs on the shared stage (as a state machine, by whoever drives) or on the set's lane;
// the tensor ends.
//
// Driving: normally the engine thread does. A caller that blocks in Wait takes the wheel while it
// waits, so that a small tensor costs no hand-over between threads. One at a time: the lock
// `drive_`.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "horovodx/base/bell.h"
#include "horovodx/base/clock.h"
#include "horovodx/base/mutex.h"
#include "horovodx/base/status.h"
#include "horovodx/runtime/control.h"
#include "horovodx/runtime/engine_options.h"
#include "horovodx/runtime/idle_wait.h"
#include "horovodx/runtime/operation.h"
#include "horovodx/runtime/process_set.h"
#include "horovodx/runtime/set_runner.h"
#include "horovodx/runtime/submission_queue.h"
#include "horovodx/runtime/timeline.h"
#include "horovodx/runtime/tuning_log.h"
#include "horovodx/transport/fabric.h"

namespace horovodx::runtime {

class Engine {
 public:
  // Connects the ranks' data paths, checks that all want the same process sets, starts the thread.
  // Collective over all ranks.
  static Result<std::unique_ptr<Engine>> Start(std::unique_ptr<transport::Fabric> fabric,
                                               EngineOptions options);
  // Shuts down if nobody has.
  ~Engine();

  int rank() const { return fabric_->rank(); }
  const topology::HostMap& hosts() const { return fabric_->hosts(); }
  const ProcessSets& process_sets() const { return process_sets_; }
  Timeline& timeline() { return timeline_; }
  const EngineOptions& options() const { return options_; }

  // Any thread. The operation ends exactly once, unless an error is returned.
  Result<OperationPtr> Submit(Submission submission);
  Status Submit(const OperationPtr& operation);
  // All or none; they become ready together.
  Result<std::vector<OperationPtr>> SubmitGroup(std::vector<Submission> submissions);
  // Submits and waits: no other thread is woken for it where that can be avoided. An error means
  // that it was not taken; how it ended is in its status, once it is finished.
  Status Run(const OperationPtr& operation, const Deadline& deadline);
  Status Run(Submission submission) {
    auto operation = std::make_shared<Operation>(std::move(submission));
    HVDX_RETURN_IF_ERROR(Run(operation, Deadline::Never()));
    return operation->status;
  }

  bool Poll(const OperationPtr& operation);
  // False if the deadline passed first.
  bool Wait(const OperationPtr& operation, const Deadline& deadline);

  // Collective over all ranks of the world; blocking. A set id, or one of Horovod's error codes.
  int AddProcessSet(std::vector<int> ranks, std::string& why);
  int RemoveProcessSet(int set, std::string& why);

  // Stops the engines of all ranks. Returns when this one has stopped.
  void Shutdown();
  bool stopped() const { return stopped_.load(std::memory_order_acquire); }
  // It ended by a failure: ranks may be gone.
  bool failed() const { return failed_.load(std::memory_order_acquire); }

  // By name, as in the C ABI; -1 for an unknown one.
  std::int64_t Counter(const std::string& name) const;
  // What rank 0 knows about the world's allreduces (describe.h); empty elsewhere, for an unknown
  // word, and once stopped. Any thread; asks whoever drives.
  std::string Describe(const std::string& what);

 private:
  struct Question {
    std::string what;
    std::string answer;
    std::atomic<bool> answered{false};
  };
  // What callers want besides submissions.
  struct Wishes {
    std::vector<std::shared_ptr<Question>> questions;  // shared with who asks and may go away
    bool shutdown = false;
    std::vector<OperationPtr> waited;  // somebody blocks on these
    std::vector<negotiation::UpMessage> set_messages;
    bool empty() const {
      return !shutdown && waited.empty() && set_messages.empty() && questions.empty();
    }
  };
  enum class Phase { kRunning, kDraining, kDrained, kFailing, kStopped };
  class TimelineObserver;

  Engine(std::unique_ptr<transport::Fabric> fabric, EngineOptions options);
  Status Connect();
  Status CheckSameSets(collectives::Team& team);
  Status NewsOr(const Status& what, transport::Mesh& world);
  negotiation::CoordinatorOptions ForCoordinator(transport::Mesh& world);
  SetOptions ForSet(int set, std::uint32_t channel, std::vector<int> ranks) const;

  // Driving (drive_ is held).
  void Loop();
  bool Turn() HVDX_REQUIRES(drive_);
  bool TakeSubmissions(TimePoint now) HVDX_REQUIRES(drive_);
  Wishes TakeWishes() HVDX_EXCLUDES(wishes_mutex_);
  bool Follow(Wishes& wishes) HVDX_REQUIRES(drive_);
  void Answer(Question& question) HVDX_REQUIRES(drive_);
  bool TurnSets(TimePoint now) HVDX_REQUIRES(drive_);
  bool TurnControl(TimePoint now) HVDX_REQUIRES(drive_);
  void OnDown(const negotiation::DownMessage& message, TimePoint now) HVDX_REQUIRES(drive_);
  void OnSetAdded(const negotiation::SetAdded& added) HVDX_REQUIRES(drive_);
  void OnSetRemoved(int set) HVDX_REQUIRES(drive_);
  void AnswerSetCall(int answer, const std::string& why) HVDX_EXCLUDES(wishes_mutex_);
  bool DrainForShutdown() HVDX_REQUIRES(drive_);
  void OnLostWhileEnding(const negotiation::Failed& lost, TimePoint now) HVDX_REQUIRES(drive_);
  bool GiveUpOnShutdown() HVDX_REQUIRES(drive_);
  bool EndFailing() HVDX_REQUIRES(drive_);
  void Fail(int culprit, const std::string& why) HVDX_REQUIRES(drive_);
  void CompleteAll() HVDX_REQUIRES(drive_);
  void NoteCosts() HVDX_REQUIRES(drive_);
  void ExpectByPlan(int set) HVDX_REQUIRES(drive_);
  void NoteTuning() HVDX_REQUIRES(drive_);
  void TuneWaking(int set, SetRunner& runner) HVDX_REQUIRES(drive_);
  TimePoint NextTime() const HVDX_REQUIRES(drive_);
  bool WorkLeft() const HVDX_REQUIRES(drive_);
  // A turn would find something to do: a few loads, for those who wait awake.
  bool Stirred() HVDX_REQUIRES(drive_);
  // A bucket is under way over links.
  bool OnLinks() const HVDX_REQUIRES(drive_);
  // Sleeps until the one errand under way has something to do, at most so long.
  void NapOnLinks(Duration most) HVDX_REQUIRES(drive_);
  // Before a sleep: what the driver runs beside the driving goes on without him.
  void MoveToLanes() HVDX_REQUIRES(drive_);
  // Runs callbacks of what has ended, with the lock released meanwhile.
  void RunCallbacks() HVDX_REQUIRES(drive_);
  void DriveUntil(const Operation& operation, const Deadline& deadline) HVDX_REQUIRES(drive_);

  // Callers.
  Status PushOperations(std::span<const OperationPtr> operations, bool quietly);
  void WakeEngine();
  void ParkWhileCallersDrive();
  void AwaitEndOfDrive();
  // True the first time.
  bool NoteWaited(const OperationPtr& operation);
  int CallForSet(negotiation::UpMessage message, std::string& why);

  const std::unique_ptr<transport::Fabric> fabric_;
  const EngineOptions options_;
  Timeline timeline_;
  std::unique_ptr<TimelineObserver> observer_;
  ProcessSets process_sets_;
  SubmissionQueue queue_;
  IdleWait idle_wait_;

  Mutex drive_;
  std::unique_ptr<Control> control_ HVDX_GUARDED_BY(drive_);
  std::map<int, std::unique_ptr<SetRunner>> sets_ HVDX_GUARDED_BY(drive_);
  std::unique_ptr<TuningLog> tuning_log_ HVDX_GUARDED_BY(drive_);  // null: not tuning here
  Phase phase_ HVDX_GUARDED_BY(drive_) = Phase::kRunning;
  Status end_reason_ HVDX_GUARDED_BY(drive_);
  // A collective has failed here; until the limit somebody may say what came first.
  Status broken_ HVDX_GUARDED_BY(drive_);
  TimePoint broken_limit_ HVDX_GUARDED_BY(drive_) = TimePoint::max();
  TimePoint drain_limit_ HVDX_GUARDED_BY(drive_) = TimePoint::max();
  TimePoint next_window_ HVDX_GUARDED_BY(drive_) = TimePoint::min();  // HOROVOD_CYCLE_TIME
  bool window_shut_ HVDX_GUARDED_BY(drive_) = false;  // messages wait for the next one
  int connecting_set_ HVDX_GUARDED_BY(drive_) = -1;   // added, not yet connected
  std::vector<OperationPtr> drained_ HVDX_GUARDED_BY(drive_);
  std::vector<negotiation::DownMessage> down_ HVDX_GUARDED_BY(drive_);
  std::vector<Completion> completions_ HVDX_GUARDED_BY(drive_);
  std::vector<OperationPtr> callbacks_ HVDX_GUARDED_BY(drive_);

  Mutex wishes_mutex_;
  std::atomic<bool> has_wishes_{false};
  Wishes wishes_ HVDX_GUARDED_BY(wishes_mutex_);
  bool set_answered_ HVDX_GUARDED_BY(wishes_mutex_) = false;
  int set_answer_ HVDX_GUARDED_BY(wishes_mutex_) = 0;
  std::string set_why_ HVDX_GUARDED_BY(wishes_mutex_);
  Mutex set_calls_;  // one AddProcessSet or RemoveProcessSet at a time

  // Waking.
  BellWord finished_word_;  // callers that wait while somebody else drives
  BellWord driven_word_;    // the engine thread while callers drive
  BellWord park_word_;      // the same, for a moment after that
  std::atomic<int> callers_driving_{0};
  std::atomic<std::uint64_t> drives_{0};      // by callers, begun so far
  std::atomic<std::int64_t> last_driven_{0};  // steady clock, ns
  std::atomic<bool> engine_wanted_{false};
  std::atomic<bool> stopped_{false};
  std::atomic<bool> failed_{false};

  std::atomic<std::int64_t> plans_started_{0};
  std::atomic<std::int64_t> plans_left_{0};
  std::atomic<std::int64_t> control_sent_{0};
  std::atomic<std::int64_t> control_received_{0};
  mutable BucketCounts buckets_;
  // On rank 0: the world's plans that were made anew, and what an allreduce takes.
  std::atomic<std::int64_t> plans_made_anew_{0};
  std::atomic<std::int64_t> cost_samples_{0};
  std::atomic<std::int64_t> cost_of_nothing_ns_{0};
  std::atomic<std::int64_t> cost_of_mebibyte_ns_{0};
  std::thread thread_;
  Mutex shutdown_mutex_;  // who joins the thread
};

}  // namespace horovodx::runtime

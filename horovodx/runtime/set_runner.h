// SetRunner: one process set on this rank: its agreement (Member), its tensors, and what is
// running.
//
// Thread: whoever drives the engine.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "horovodx/base/clock.h"
#include "horovodx/collectives/allreduce_staged.h"
#include "horovodx/collectives/team.h"
#include "horovodx/negotiation/member.h"
#include "horovodx/negotiation/plan_meter.h"
#include "horovodx/runtime/bucket_job.h"
#include "horovodx/runtime/errand.h"
#include "horovodx/runtime/execute.h"
#include "horovodx/runtime/lane.h"
#include "horovodx/runtime/operation.h"
#include "horovodx/runtime/timeline.h"
#include "horovodx/transport/fabric.h"

namespace horovodx::runtime {

// Buckets that have run, of all sets.
struct BucketCounts {
  std::atomic<std::int64_t> planned{0};
  std::atomic<std::int64_t> negotiated{0};
};

struct SetOptions {
  std::int32_t set = 0;
  std::uint32_t channel = 0;
  std::vector<int> ranks;  // global, ascending
  negotiation::MemberOptions member;
  collectives::AllreduceWishes execute;
  bool hierarchical_allgather = false;
  Duration time_limit = std::chrono::seconds(30);  // no byte moved for this long: an error
  Timeline* timeline = nullptr;                    // borrowed; null: none
  BucketCounts* counts = nullptr;                  // borrowed; null: none
  bool measure = false;                            // what buckets take, for the coordinator
  bool measure_links = false;                      // only those that do not run on the stage
};

// An operation that has come to its end.
struct Completion {
  OperationPtr operation;
  Status status;
};

class SetRunner {
 public:
  // This rank must be a member. The mesh is made on the set's lane, together with the other
  // members.
  SetRunner(SetOptions options, transport::Fabric& fabric);
  // With a mesh that exists already.
  SetRunner(SetOptions options, transport::Fabric& fabric, std::unique_ptr<transport::Mesh> mesh);
  ~SetRunner();

  const std::vector<int>& ranks() const { return options_.ranks; }
  negotiation::Member& member() { return member_; }

  // Its members can talk to each other.
  bool connected() const { return team_.has_value(); }
  void Submit(OperationPtr operation, TimePoint now);
  // Does what can be done now; true if anything moved. An error is fatal for the job.
  Result<bool> Turn(TimePoint now, std::vector<Completion>& completions);
  // When the buckets of the plan that starts now are to leave and to arrive, for the timeline.
  void Expect(std::vector<schedule::Played> predicted) { predicted_ = std::move(predicted); }
  // With `measure`: the buckets that have run since the last call.
  std::vector<negotiation::Measured> TakeMeasured() { return std::exchange(measured_, {}); }
  // Nothing is running, and nothing agreed on is left to run.
  bool drained() const { return !running_ && member_.idle(); }
  bool has_tensors() const { return !tensors_.empty(); }
  // Whom the running bucket waited for has come.
  bool Stirred();
  // The member's time has come.
  void OnTime(TimePoint now);
  // A bucket is under way over links: on the lane, or as an errand.
  bool on_links() const { return lane_.busy() || errand_.active(); }
  // Sleeps until the errand under way has something to do, at most so long.
  void NapOnLinks(Duration most) {
    if (!lane_.busy() && errand_.active()) errand_.Nap(most);  // while it is, it is the lane's
  }
  // Whoever drives is about to sleep, or to turn to other things: what he runs goes on on the lane.
  void MoveToLane();
  bool has_stage() const { return pipe_.has_value(); }
  // Somebody must drive on.
  bool busy() const { return running_ || !tensors_.empty() || !team_; }
  // When a running bucket that makes no progress is an error; TimePoint::max() if nothing can be.
  TimePoint time_limit() const {
    return staged_ && !planned_ ? last_progress_ + options_.time_limit : TimePoint::max();
  }
  // The engine's note of how many submissions it last asked to be woken after.
  std::size_t wake_after = 1;
  // Ends all tensors with `why`, once what is running has stopped: call it until it returns true.
  bool Fail(const Status& why, std::vector<Completion>& completions);

 private:
  using Kind = negotiation::Kind;

  bool StageServes(const negotiation::Bucket& bucket) const;
  bool measures() const { return options_.measure || (options_.measure_links && !pipe_); }
  collectives::AllreduceAlgorithm AlgorithmOf(const negotiation::Work& work) const;
  std::string AlgorithmName() const;
  Result<bool> FinishMeshBuilding();
  Status Start(const negotiation::Work& work, TimePoint now);
  void EnterEpoch(std::uint32_t epoch);
  void StartOnStage();
  void StartOnLinks();
  bool IsErrand() const;
  Result<bool> Advance(TimePoint now, std::vector<Completion>& completions);
  Result<bool> AdvanceOnStage(TimePoint now, std::vector<Completion>& completions);
  void LeaveOutWaiting(bool moved, TimePoint now);
  // Grows whenever something of a bucket has moved.
  std::uint64_t Movements() const { return moves_on_stage_ + (team_ ? team_->movements() : 0); }
  Result<bool> AdvanceOnLinks(TimePoint now, std::vector<Completion>& completions);
  void Drop(TimePoint now);
  void Finish(TimePoint now, std::vector<Completion>& completions);
  void Measure();
  Duration Roused() const;
  Status TooSlow() const;
  void Trace();
  void TraceStep();  // if the bucket was its last

  SetOptions options_;
  transport::Fabric& fabric_;
  int set_rank_;
  std::unique_ptr<transport::Mesh> mesh_;  // null until made
  std::optional<collectives::Team> team_;
  std::optional<collectives::StagePipe> pipe_;
  negotiation::Member member_;
  std::unordered_map<std::string, OperationPtr> tensors_;
  std::uint32_t epoch_ = 0;

  // The bucket under way.
  bool running_ = false;
  bool planned_ = false;
  bool on_stage_ = false;
  bool drop_raised_ = false;
  std::uint64_t number_ = 0;                 // as in Work
  std::int64_t traced_ = 0;                  // buckets that the timeline was told of
  std::vector<schedule::Played> predicted_;  // of the plan; empty: not known
  TimePoint step_start_;                     // of the planned step under way: its first tensor
  TimePoint started_;                        // with `measure`; later by what it waited for others
  TimePoint begun_;                          // the same, by the clock
  TimePoint free_since_;                     // the end of the bucket before
  TimePoint blocked_;                        // since when it waits for others to begin, if it does
  BucketJob job_;
  std::vector<kernels::Piece> inputs_;
  std::vector<kernels::Piece> outputs_;
  std::optional<collectives::StagedAllreduce> staged_;
  TimePoint last_progress_;
  std::uint64_t moves_on_stage_ = 0;
  std::uint64_t movements_seen_ = 0;  // when the member's time came last
  std::vector<negotiation::Measured> measured_;

  Errand errand_;  // the lane's while that is busy
  Lane lane_;      // last: its thread ends before the rest goes
};

}  // namespace horovodx::runtime

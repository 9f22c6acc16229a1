#include "horovodx/runtime/set_runner.h"

#include <algorithm>
#include <utility>

#include "horovodx/base/check.h"
#include "horovodx/collectives/allreduce_mpi.h"
#include "horovodx/collectives/select_gather.h"
#include "horovodx/negotiation/shape.h"
#include "horovodx/runtime/bucket_trace.h"

namespace horovodx::runtime {
namespace {

using collectives::StagedAllreduce;

// A bucket of at most so many bytes that a caller blocks on is awaited awake for so long: between
// hosts that is a few times what its bytes need, and waking a thread takes as long as they do.
constexpr std::size_t kAwakeBytes = 64 << 10;
constexpr Duration kAwake = std::chrono::microseconds(300);
// Whoever looks at a time limit so much after it has passed was asleep.
constexpr Duration kOverslept = std::chrono::seconds(1);

}  // namespace

SetRunner::SetRunner(SetOptions options, transport::Fabric& fabric)
    : SetRunner(std::move(options), fabric, nullptr) {
  auto make = [this]() -> Status {
    auto mesh =
        fabric_.MakeMesh(options_.channel, options_.ranks, Deadline::After(options_.time_limit));
    if (!mesh.ok()) return mesh.status();
    mesh_ = std::move(*mesh);
    return Status::Ok();
  };
  lane_.Post(make);
}

SetRunner::SetRunner(SetOptions options, transport::Fabric& fabric,
                     std::unique_ptr<transport::Mesh> mesh)
    : options_(std::move(options)),
      fabric_(fabric),
      set_rank_(
          static_cast<int>(std::find(options_.ranks.begin(), options_.ranks.end(), fabric.rank()) -
                           options_.ranks.begin())),
      mesh_(std::move(mesh)),
      member_(options_.member),
      lane_(fabric.bell()) {
  if (mesh_ != nullptr) HVDX_CHECK(FinishMeshBuilding().ok());
}

bool SetRunner::Stirred() {
  if (staged_) return staged_->waiting_for() < 0;
  return lane_.busy() ? lane_.ended() : errand_.active() && errand_.ready();
}

void SetRunner::OnTime(TimePoint now) {
  const std::uint64_t before = std::exchange(movements_seen_, Movements());
  if (running_ && movements_seen_ != before) {
    member_.Moved(now);
  } else {
    member_.OnTime(now);
  }
}

SetRunner::~SetRunner() {
  if (lane_.busy() || !errand_.active()) return;
  mesh_->interrupt().Raise(Status::Aborted("the process set has gone"));
  static_cast<void>(errand_.Complete());
}

Result<bool> SetRunner::FinishMeshBuilding() {
  if (lane_.busy()) {
    Status status;
    if (!lane_.TakeResult(status)) return false;
    HVDX_RETURN_IF_ERROR(status);
  }
  team_.emplace(*mesh_);
  team_->SetTimeLimit(options_.time_limit);
  if (mesh_->stage() != nullptr && mesh_->hosts().hosts() == 1) pipe_.emplace(*mesh_->stage());
  return true;
}

void SetRunner::Submit(OperationPtr operation, TimePoint now) {
  // A copy: the member may remember what was asked for longer than the operation lives.
  auto request = std::make_shared<negotiation::Request>(operation->what.request);
  if (request->kind == Kind::kBroadcast) {
    const auto& ranks = options_.ranks;
    const auto root = std::find(ranks.begin(), ranks.end(), request->root);
    request->root = static_cast<std::int32_t>(root - ranks.begin());
  }
  if (options_.timeline != nullptr && member_.in_plan()) {
    options_.timeline->Submitted(request->name, operation->submitted);
  }
  tensors_[request->name] = std::move(operation);
  member_.Submit(std::shared_ptr<const negotiation::Request>(std::move(request)), now);
}

Result<bool> SetRunner::Turn(TimePoint now, std::vector<Completion>& completions) {
  if (!team_) {
    HVDX_ASSIGN_OR_RETURN(const bool made, FinishMeshBuilding());
    if (!made) return false;
  }
  if (running_) return Advance(now, completions);
  const auto work = member_.Next();
  if (!work) return false;
  HVDX_RETURN_IF_ERROR(Start(*work, now));
  HVDX_RETURN_IF_ERROR(Advance(now, completions).status());
  return true;
}

// Whoever names an algorithm gets it, also where the stage would be faster.
bool SetRunner::StageServes(const negotiation::Bucket& bucket) const {
  if (!pipe_) return false;
  return bucket.kind == Kind::kAllreduce && RuleFor(options_.execute, job_.bytes()) == nullptr;
}

// The coordinator's choice; without one all ranks apply the same rules.
collectives::AllreduceAlgorithm SetRunner::AlgorithmOf(const negotiation::Work& work) const {
  if (work.algorithm != negotiation::kByRules) {
    return static_cast<collectives::AllreduceAlgorithm>(work.algorithm);
  }
  collectives::SelectInput input = InputFor(mesh_->hosts(), options_.execute);
  input.bytes = job_.bytes();
  input.native = collectives::HasAllreduceMpi(*team_, job_.bucket->type, job_.op());
  return SelectAllreduce(input);
}

void SetRunner::EnterEpoch(std::uint32_t epoch) {
  if (epoch == epoch_) return;
  epoch_ = epoch;
  team_->EnterEpoch(epoch);
  if (pipe_) pipe_->EnterEpoch(epoch);
}

Status SetRunner::Start(const negotiation::Work& work, TimePoint now) {
  EnterEpoch(work.epoch);
  team_->SetSegment(work.bucket->segment);
  if (work.bucket->streams > 0) mesh_->UseStreams(work.bucket->streams);
  running_ = true;
  planned_ = work.planned;
  number_ = work.number;
  drop_raised_ = false;
  last_progress_ = now;
  job_.bucket = work.bucket;
  job_.set_size = static_cast<int>(options_.ranks.size());
  job_.set_rank = set_rank_;
  job_.hierarchical_allgather = options_.hierarchical_allgather;
  job_.operations.clear();
  const Kind kind = work.bucket->kind;
  for (std::size_t i = 0; i < work.bucket->entries.size(); ++i) {
    const std::string& name = work.bucket->entries[i].name;
    // A rank that has joined takes part in reductions without a tensor, and in errors not at all.
    const bool absent = i < work.absent.size() && work.absent[i];
    const auto it = absent ? tensors_.end() : tensors_.find(name);
    job_.operations.push_back(it == tensors_.end() ? nullptr : it->second);
    if (it == tensors_.end() && !absent) {
      return Status::Unknown("'" + name + "' was started, which this rank has not submitted");
    }
  }
  on_stage_ = StageServes(*work.bucket);
  if (kind == Kind::kAllreduce && !on_stage_) job_.algorithm = AlgorithmOf(work);
  if (options_.timeline != nullptr) Trace();
  if (kind == Kind::kError || kind == Kind::kJoin || kind == Kind::kBarrier) return Status::Ok();
  // A turn's `now` is that of its beginning, and a bucket may begin and end in one.
  if (measures()) started_ = begun_ = Clock::now();
  blocked_ = TimePoint();
  if (on_stage_) {
    StartOnStage();
  } else {
    StartOnLinks();
  }
  return Status::Ok();
}

void SetRunner::Trace() {
  BucketFacts facts{.number = traced_++,
                    .set = options_.set,
                    .tensors = job_.bucket->entries.size(),
                    .bytes = negotiation::BytesMoved(*job_.bucket)};
  facts.algorithm = AlgorithmName();
  if (planned_ && !predicted_.empty()) {
    const std::size_t index = number_ % predicted_.size();
    facts.planned = {PlanNumber(epoch_), number_ / predicted_.size(), index};
    for (const OperationPtr& operation : job_.operations) {
      const bool first = index == 0 && operation == job_.operations.front();
      step_start_ = first ? operation->submitted : std::min(step_start_, operation->submitted);
    }
    facts.predicted = {step_start_ + Seconds(predicted_[index].start),
                       step_start_ + Seconds(predicted_[index].end)};
  }
  TraceStart(*options_.timeline, job_, facts);
}

std::string SetRunner::AlgorithmName() const {
  const auto& hosts = mesh_->hosts();
  switch (job_.bucket->kind) {
    case Kind::kAllreduce:
      return on_stage_ ? "staged" : std::string(NameOf(job_.algorithm));
    case Kind::kAllgather:
      return NameOf(collectives::SelectAllgather(negotiation::BytesMoved(*job_.bucket),
                                                 hosts.size(), hosts.hosts(),
                                                 job_.hierarchical_allgather));
    default:
      return "";
  }
}

void SetRunner::TraceStep() {
  if (!planned_ || predicted_.empty() || number_ % predicted_.size() != predicted_.size() - 1) {
    return;
  }
  options_.timeline->StepEnd({.set = options_.set,
                              .plan = PlanNumber(epoch_),
                              .step = number_ / predicted_.size(),
                              .took = ToSeconds(Clock::now() - step_start_),
                              .predicted = schedule::EndOf(predicted_)});
}

void SetRunner::StartOnLinks() {
  const auto run = [this] { return Execute(*team_, job_); };
  const bool hurry = job_.bytes() <= kAwakeBytes && job_.waited();
  // Once an errand has moved to the lane, somebody is so late that the lane had better sleep.
  const Duration awake = hurry && !IsErrand() ? kAwake : Duration::zero();
  mesh_->StayAwake(awake);
  if (hurry && IsErrand() && errand_.Start(*mesh_, run)) return;
  lane_.Post(run, awake);
}

// What waits for links alone, and calls nobody who might mind the fiber's small stack.
bool SetRunner::IsErrand() const {
  switch (job_.bucket->kind) {
    case Kind::kAllreduce:
      return job_.algorithm != collectives::AllreduceAlgorithm::kMpi;
    case Kind::kBroadcast:
      return true;
    default:
      return false;
  }
}

void SetRunner::MoveToLane() {
  if (lane_.busy() || !errand_.active()) return;
  lane_.Post([this] { return errand_.Complete(); });
}

void SetRunner::StartOnStage() {
  job_.Inputs(inputs_);
  job_.Outputs(outputs_);
  staged_.emplace(*pipe_, collectives::StagedTensors{.type = job_.bucket->type,
                                                     .op = job_.op(),
                                                     .prescale = job_.bucket->prescale,
                                                     .postscale = job_.postscale(),
                                                     .input = inputs_,
                                                     .output = outputs_});
}

Result<bool> SetRunner::Advance(TimePoint now, std::vector<Completion>& completions) {
  if (staged_) return AdvanceOnStage(now, completions);
  if (on_links()) return AdvanceOnLinks(now, completions);
  Finish(now, completions);  // an error, a join or a barrier: nothing to move
  return true;
}

Result<bool> SetRunner::AdvanceOnStage(TimePoint now, std::vector<Completion>& completions) {
  if (member_.drop_wanted()) {
    staged_->Abandon();
    Drop(now);
    return true;
  }
  const StagedAllreduce::Progress progress = staged_->Advance();
  if (measures()) LeaveOutWaiting(progress != StagedAllreduce::Progress::kBlocked, now);
  switch (progress) {
    case StagedAllreduce::Progress::kDone:
      staged_.reset();
      Finish(now, completions);
      return true;
    case StagedAllreduce::Progress::kMoved:
      ++moves_on_stage_;
      last_progress_ = now;
      return true;
    case StagedAllreduce::Progress::kBlocked:
      break;
  }
  // A planned bucket may wait for its peers as long as they need; the member's patience watches it.
  const Duration waited = now - last_progress_;
  if (planned_ || waited <= options_.time_limit) return false;
  if (waited < options_.time_limit + kOverslept) return TooSlow();
  last_progress_ = now;  // we looked up far too late: it was us who slept, and perhaps all did
  return false;
}

// Plans are cut by what a bucket takes once all have come to it. Who waits for a rank that is
// always late would else take the lateness for latency, and merge what had better leave early.
void SetRunner::LeaveOutWaiting(bool moved, TimePoint now) {
  if (!moved && !staged_->all_have_come() && blocked_ == TimePoint()) {
    blocked_ = Clock::now();
  } else if (moved && blocked_ != TimePoint()) {
    started_ += std::max(Duration::zero(), now - blocked_);
    blocked_ = TimePoint();
  }
}

Result<bool> SetRunner::AdvanceOnLinks(TimePoint now, std::vector<Completion>& completions) {
  if (member_.drop_wanted() && !drop_raised_) {
    drop_raised_ = true;
    mesh_->interrupt().Raise(Status::Cancelled("the plan ended before this bucket"));
  }
  Status status;
  if (lane_.busy()) {
    if (!lane_.TakeResult(status)) return false;
  } else {
    if (!errand_.ready()) return false;
    if (!errand_.Step(status)) return true;
  }
  if (drop_raised_ && status.code() == StatusCode::kCancelled) {
    mesh_->interrupt().Clear();
    Drop(now);
    return true;
  }
  HVDX_RETURN_IF_ERROR(status);
  Finish(now, completions);
  return true;
}

Status SetRunner::TooSlow() const {
  const int member = staged_->waiting_for();
  const auto& hosts = mesh_->hosts();
  const int set_rank = member < 0 ? set_rank_ : hosts.ranks_on(hosts.host_of(set_rank_))[member];
  return Status::Unknown("waited more than " +
                         std::to_string(static_cast<int>(ToSeconds(options_.time_limit))) +
                         " s for rank " + std::to_string(options_.ranks[set_rank]) + " in " +
                         negotiation::NameOf(job_.bucket->kind) + " '" +
                         (job_.bucket->entries.empty() ? "" : job_.bucket->entries[0].name) + "'");
}

void SetRunner::Drop(TimePoint now) {
  if (options_.timeline != nullptr) TraceDrop(*options_.timeline, job_, options_.set);
  staged_.reset();
  running_ = false;
  job_.operations.clear();
  member_.Dropped(now);
}

// From when the bucket could have begun until it did: what it takes to rouse a thread, which a plan
// pays for each bucket that finds the line free.
Duration SetRunner::Roused() const {
  if (!planned_) return Duration::zero();
  TimePoint could = free_since_;
  for (const OperationPtr& operation : job_.operations) {
    could = std::max(could, operation->submitted);
  }
  return std::max(Duration::zero(), begun_ - could);
}

void SetRunner::Measure() {
  const Kind kind = job_.bucket->kind;
  if (kind == Kind::kError || kind == Kind::kJoin || kind == Kind::kBarrier) return;
  negotiation::Measured measured{.set = options_.set,
                                 .epoch = epoch_,
                                 .planned = planned_,
                                 .number = number_,
                                 .kind = kind,
                                 .bytes = negotiation::BytesMoved(*job_.bucket),
                                 .seconds = ToSeconds(Clock::now() - started_ + Roused()),
                                 .submitted = {},
                                 .algorithm = static_cast<std::uint8_t>(job_.algorithm),
                                 .type = job_.bucket->type,
                                 .op = job_.op()};
  // On one host there is nothing to choose: the stage, or what the user has named.
  if (pipe_) measured.algorithm = on_stage_ ? negotiation::kOnStage : negotiation::kByRules;
  if (planned_) {
    for (const OperationPtr& operation : job_.operations) {
      measured.submitted.push_back(operation->submitted);
    }
  }
  measured_.push_back(std::move(measured));
}

void SetRunner::Finish(TimePoint now, std::vector<Completion>& completions) {
  if (measures()) {
    Measure();
    free_since_ = Clock::now();
  }
  if (options_.timeline != nullptr) {
    TraceEnd(*options_.timeline, job_, options_.set);
    TraceStep();
  }
  if (options_.counts != nullptr) {
    (planned_ ? options_.counts->planned : options_.counts->negotiated).fetch_add(1);
  }
  for (OperationPtr& operation : job_.operations) {
    if (operation == nullptr) continue;
    tensors_.erase(operation->what.request.name);
    if (job_.bucket->kind == Kind::kJoin) operation->last_joined = job_.bucket->last_joined;
    Status status =
        job_.bucket->kind == Kind::kError ? job_.bucket->error : operation->local_failure;
    completions.push_back({std::move(operation), std::move(status)});
  }
  job_.operations.clear();
  running_ = false;
  member_.Finished(now);
}

bool SetRunner::Fail(const Status& why, std::vector<Completion>& completions) {
  if (running_ && !staged_ && on_links()) {
    // It still reads and writes the tensors: they are not given back before it has stopped.
    mesh_->interrupt().Raise(why);
    MoveToLane();
    Status stopped;
    if (!lane_.TakeResult(stopped)) return false;
  }
  staged_.reset();
  job_.operations.clear();
  running_ = false;
  for (auto& [name, operation] : tensors_) completions.push_back({operation, why});
  tensors_.clear();
  return true;
}

}  // namespace horovodx::runtime

#include "horovodx/runtime/submission_queue.h"

#include <algorithm>
#include <utility>

#include "horovodx/runtime/validate.h"

namespace horovodx::runtime {

void SubmissionQueue::OpenSet(int set, std::vector<int> ranks) {
  MutexLock lock(mutex_);
  sets_[set].ranks = std::move(ranks);
}

void SubmissionQueue::CloseSet(int set) {
  MutexLock lock(mutex_);
  sets_.erase(set);
}

Status SubmissionQueue::Check(const Operation& operation) {
  const Submission& s = operation.what;
  const auto it = sets_.find(s.set);
  if (it == sets_.end()) {
    return Status::InvalidArgument(
        std::string(TitleOf(s.request.kind)) +
        ": Process set provided does not exist, or has not been registered.");
  }
  HVDX_RETURN_IF_ERROR(CheckSubmission(s, it->second.ranks, rank_));
  if (it->second.outstanding.count(s.request.name) > 0) {
    return Status::InvalidArgument(std::string(TitleOf(s.request.kind)) + ": tensor '" +
                                   s.request.name +
                                   "' has the same name as another tensor that is currently being "
                                   "processed; wait for that one, or use another name.");
  }
  return Status::Ok();
}

Status SubmissionQueue::Push(std::span<const OperationPtr> operations, bool& worth_waking) {
  MutexLock lock(mutex_);
  HVDX_RETURN_IF_ERROR(refused_);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    Operation& operation = *operations[i];
    Status status = Check(operation);
    if (!status.ok()) {
      for (std::size_t j = 0; j < i; ++j) {
        const Submission& taken = operations[j]->what;
        sets_[taken.set].outstanding.erase(taken.request.name);
      }
      return status;
    }
    operation.elements = *CountElements(operation.what.request.shape, operation.what.request.type);
    sets_[operation.what.set].outstanding.insert(operation.what.request.name);
  }
  worth_waking = false;
  const TimePoint now = Clock::now();
  for (const OperationPtr& operation : operations) {
    operation->submitted = now;
    SetNames& set = sets_[operation->what.set];
    if (++set.waiting >= set.wake_after) worth_waking = true;
    if (PassesPlans(operation->what.request)) worth_waking = true;
    pending_.push_back(operation);
  }
  has_new_.store(true, std::memory_order_release);
  return Status::Ok();
}

void SubmissionQueue::DrainOnEngine(std::vector<OperationPtr>& into) {
  MutexLock lock(mutex_);
  into.clear();
  std::swap(into, pending_);
  for (auto& [id, set] : sets_) set.waiting = 0;
  has_new_.store(false, std::memory_order_relaxed);
}

void SubmissionQueue::ReleaseOnEngine(const Operation& operation) {
  MutexLock lock(mutex_);
  const auto it = sets_.find(operation.what.set);
  if (it != sets_.end()) it->second.outstanding.erase(operation.what.request.name);
}

void SubmissionQueue::WakeAfterOnEngine(int set, std::size_t submissions) {
  MutexLock lock(mutex_);
  const auto it = sets_.find(set);
  if (it != sets_.end()) it->second.wake_after = std::max<std::size_t>(submissions, 1);
}

void SubmissionQueue::RefuseOnEngine(Status why) {
  MutexLock lock(mutex_);
  if (refused_.ok()) refused_ = std::move(why);
}

}  // namespace horovodx::runtime

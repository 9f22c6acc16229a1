// SubmissionQueue: the only door through which callers reach the engine.
//
// Also keeps the names that are outstanding, a set each, so that a name used twice is refused at
// once on the rank that does it.
#pragma once

#include <atomic>
#include <map>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "horovodx/base/mutex.h"
#include "horovodx/base/status.h"
#include "horovodx/runtime/operation.h"

namespace horovodx::runtime {

class SubmissionQueue {
 public:
  explicit SubmissionQueue(int rank) : rank_(rank) {}

  // A process set that may be used from now on. `ranks` ascending.
  void OpenSet(int set, std::vector<int> ranks) HVDX_EXCLUDES(mutex_);
  void CloseSet(int set) HVDX_EXCLUDES(mutex_);

  // Any thread; never waits for the network. All are taken, or none and the reason is returned.
  // `worth_waking` tells whether the engine should hear of it now.
  Status Push(std::span<const OperationPtr> operations, bool& worth_waking) HVDX_EXCLUDES(mutex_);

  // Whoever drives the engine. Takes everything pending, in order of arrival.
  void DrainOnEngine(std::vector<OperationPtr>& into) HVDX_EXCLUDES(mutex_);
  bool HasNew() const { return has_new_.load(std::memory_order_acquire); }
  // The name may be used again.
  void ReleaseOnEngine(const Operation& operation) HVDX_EXCLUDES(mutex_);
  // The engine has nothing to do for this set before that many more submissions (1: wake it for
  // each).
  void WakeAfterOnEngine(int set, std::size_t submissions) HVDX_EXCLUDES(mutex_);
  // From now on every Push fails with `why`.
  void RefuseOnEngine(Status why) HVDX_EXCLUDES(mutex_);

 private:
  struct SetNames {
    std::vector<int> ranks;
    std::unordered_set<std::string> outstanding;
    std::size_t waiting = 0;     // submissions since the last drain
    std::size_t wake_after = 1;  // see WakeAfterOnEngine
  };
  Status Check(const Operation& operation) HVDX_REQUIRES(mutex_);

  const int rank_;
  std::atomic<bool> has_new_{false};
  Mutex mutex_;
  Status refused_ HVDX_GUARDED_BY(mutex_);
  std::map<int, SetNames> sets_ HVDX_GUARDED_BY(mutex_);
  std::vector<OperationPtr> pending_ HVDX_GUARDED_BY(mutex_);
};

}  // namespace horovodx::runtime

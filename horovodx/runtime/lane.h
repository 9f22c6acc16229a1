// Lane: a thread that runs one blocking collective after another, for one process set.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "horovodx/base/bell.h"
#include "horovodx/base/clock.h"
#include "horovodx/base/mutex.h"
#include "horovodx/base/status.h"

namespace horovodx::runtime {

class Lane {
 public:
  // Rings `bell` whenever a job has ended.
  explicit Lane(Bell bell) : bell_(bell) {}
  // Waits for the job under way: make sure it ends (raise the mesh's interrupt).
  ~Lane();

  // Starts a job; the lane must be free. The thread is made on first use. Once the job has ended
  // the thread looks for the next one for so long as `awake` says, giving way to others, then
  // sleeps.
  void Post(std::function<Status()> job, Duration awake = Duration::zero()) HVDX_EXCLUDES(mutex_);
  bool busy() const { return busy_; }
  // TakeResult would return true.
  bool ended() const { return ended_.load(std::memory_order_acquire); }
  // True once the job has ended; then `status` is its result and the lane is free.
  bool TakeResult(Status& status) HVDX_EXCLUDES(mutex_);

 private:
  void Loop() HVDX_EXCLUDES(mutex_);
  void LookForJob(Duration awake) const;

  Bell bell_;
  bool busy_ = false;  // the poster's
  std::atomic<bool> ended_{false};
  std::atomic<bool> posted_{false};  // there is a job, or nothing more to wait for
  Mutex mutex_;
  CondVar wake_;
  std::function<Status()> job_ HVDX_GUARDED_BY(mutex_);
  Duration awake_ HVDX_GUARDED_BY(mutex_) = Duration::zero();
  bool stop_ HVDX_GUARDED_BY(mutex_) = false;
  Status result_ HVDX_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace horovodx::runtime

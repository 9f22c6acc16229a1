// Lane: a thread that runs one blocking collective after another, for one process set.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "horovodx/base/bell.h"
#include "horovodx/base/mutex.h"
#include "horovodx/base/status.h"

namespace horovodx::runtime {

class Lane {
 public:
  // Rings `bell` whenever a job has ended.
  explicit Lane(Bell bell) : bell_(bell) {}
  // Waits for the job under way: make sure it ends (raise the mesh's interrupt).
  ~Lane();

  // Starts a job; the lane must be free. The thread is made on first use.
  void Post(std::function<Status()> job) HVDX_EXCLUDES(mutex_);
  bool busy() const { return busy_; }
  // True once the job has ended; then `status` is its result and the lane is free.
  bool TakeResult(Status& status) HVDX_EXCLUDES(mutex_);

 private:
  void Loop() HVDX_EXCLUDES(mutex_);

  Bell bell_;
  bool busy_ = false;  // the poster's
  std::atomic<bool> ended_{false};
  Mutex mutex_;
  CondVar wake_;
  std::function<Status()> job_ HVDX_GUARDED_BY(mutex_);
  bool stop_ HVDX_GUARDED_BY(mutex_) = false;
  Status result_ HVDX_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace horovodx::runtime

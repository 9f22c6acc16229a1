#include "horovodx/runtime/lane.h"

#include <sched.h>

#include <utility>

#include "horovodx/base/check.h"

namespace horovodx::runtime {

Lane::~Lane() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
    posted_.store(true, std::memory_order_release);
    wake_.NotifyOne();
  }
  if (thread_.joinable()) thread_.join();
}

void Lane::Post(std::function<Status()> job, Duration awake) {
  HVDX_CHECK(!busy_);
  busy_ = true;
  MutexLock lock(mutex_);
  job_ = std::move(job);
  awake_ = awake;
  posted_.store(true, std::memory_order_release);
  if (!thread_.joinable()) thread_ = std::thread([this] { Loop(); });
  wake_.NotifyOne();
}

bool Lane::TakeResult(Status& status) {
  if (!busy_ || !ended_.load(std::memory_order_acquire)) return false;
  MutexLock lock(mutex_);
  status = std::move(result_);
  ended_.store(false, std::memory_order_relaxed);
  busy_ = false;
  return true;
}

void Lane::LookForJob(Duration awake) const {
  if (awake == Duration::zero()) return;
  const Deadline until = Deadline::After(awake);
  while (!posted_.load(std::memory_order_acquire) && !until.Passed()) ::sched_yield();
}

void Lane::Loop() {
  Duration awake = Duration::zero();
  while (true) {
    LookForJob(awake);
    std::function<Status()> job;
    {
      MutexLock lock(mutex_);
      while (job_ == nullptr && !stop_) wake_.Wait(mutex_);
      if (job_ == nullptr) return;
      job = std::exchange(job_, nullptr);
      awake = awake_;
      posted_.store(stop_, std::memory_order_relaxed);
    }
    Status result = job();
    {
      MutexLock lock(mutex_);
      result_ = std::move(result);
      ended_.store(true, std::memory_order_release);
    }
    bell_.Ring();
  }
}

}  // namespace horovodx::runtime

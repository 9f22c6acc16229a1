// std::mutex with annotations that clang checks (-Wthread-safety) and gcc reads as documentation.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define HVDX_ANNOTATE(x) __attribute__((x))
#else
#define HVDX_ANNOTATE(x)
#endif
#define HVDX_CAPABILITY(x) HVDX_ANNOTATE(capability(x))
#define HVDX_SCOPED_CAPABILITY HVDX_ANNOTATE(scoped_lockable)
#define HVDX_GUARDED_BY(x) HVDX_ANNOTATE(guarded_by(x))
#define HVDX_REQUIRES(...) HVDX_ANNOTATE(requires_capability(__VA_ARGS__))
#define HVDX_EXCLUDES(...) HVDX_ANNOTATE(locks_excluded(__VA_ARGS__))
#define HVDX_ACQUIRE(...) HVDX_ANNOTATE(acquire_capability(__VA_ARGS__))
#define HVDX_TRY_ACQUIRE(...) HVDX_ANNOTATE(try_acquire_capability(__VA_ARGS__))
#define HVDX_RELEASE(...) HVDX_ANNOTATE(release_capability(__VA_ARGS__))
#define HVDX_NO_THREAD_SAFETY_ANALYSIS HVDX_ANNOTATE(no_thread_safety_analysis)

namespace horovodx {

class HVDX_CAPABILITY("mutex") Mutex {
 public:
  void Lock() HVDX_ACQUIRE() { mutex_.lock(); }
  void Unlock() HVDX_RELEASE() { mutex_.unlock(); }
  bool TryLock() HVDX_TRY_ACQUIRE(true) { return mutex_.try_lock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class HVDX_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) HVDX_ACQUIRE(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~MutexLock() HVDX_RELEASE() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

class CondVar {
 public:
  // Returns false if `until` passed first. The mutex is held before and after.
  bool WaitUntil(Mutex& mutex, std::chrono::steady_clock::time_point until)
      HVDX_REQUIRES(mutex) HVDX_NO_THREAD_SAFETY_ANALYSIS {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    const bool woken = condition_.wait_until(lock, until) == std::cv_status::no_timeout;
    lock.release();
    return woken;
  }
  void Wait(Mutex& mutex) HVDX_REQUIRES(mutex) HVDX_NO_THREAD_SAFETY_ANALYSIS {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace horovodx

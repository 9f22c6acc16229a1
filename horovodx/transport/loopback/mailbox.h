// The loopback courier's letter box: where messages for one rank wait.
#pragma once

#include <atomic>
#include <set>
#include <utility>
#include <vector>

#include "horovodx/base/bell.h"
#include "horovodx/base/mutex.h"
#include "horovodx/transport/courier.h"

namespace horovodx::transport::loopback {

class Mailbox {
 public:
  explicit Mailbox(Bell bell) : bell_(bell) {}

  void Put(Delivery delivery) HVDX_EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      if (closed_ || dead_.count(delivery.from) > 0) return;
      if (!delivery.lost.ok()) {
        if (goodbyes_) return;
        dead_.insert(delivery.from);
      }
      waiting_.push_back(std::move(delivery));
      has_mail_.store(true, std::memory_order_release);
    }
    bell_.Ring();
  }
  std::vector<Delivery> Take() HVDX_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    has_mail_.store(false, std::memory_order_relaxed);
    return std::exchange(waiting_, {});
  }
  bool has_mail() const { return has_mail_.load(std::memory_order_acquire); }
  void ExpectGoodbyes() HVDX_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    goodbyes_ = true;
  }
  // A new life: an engine that was shut down starts again with an empty box.
  void Reopen() HVDX_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    closed_ = goodbyes_ = false;
    dead_.clear();
  }
  void Close() HVDX_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    closed_ = true;
    waiting_.clear();
    has_mail_.store(false, std::memory_order_relaxed);
  }

 private:
  Bell bell_;
  std::atomic<bool> has_mail_{false};
  Mutex mutex_;
  bool closed_ HVDX_GUARDED_BY(mutex_) = false;
  bool goodbyes_ HVDX_GUARDED_BY(mutex_) = false;
  std::set<int> dead_ HVDX_GUARDED_BY(mutex_);
  std::vector<Delivery> waiting_ HVDX_GUARDED_BY(mutex_);
};

}  // namespace horovodx::transport::loopback

// EventLoop: one thread that waits for descriptors, timers and tasks, and does what they are for.
//
// Whoever puts something in takes it out again before it dies: Run() a task that calls Remove and
// Cancel; once Run has returned, no handler of it runs any more. The loop outlives them all.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "horovodx/base/clock.h"
#include "horovodx/base/fd.h"
#include "horovodx/base/mutex.h"
#include "horovodx/base/status.h"

namespace horovodx {

class EventLoop {
 public:
  using Task = std::function<void()>;
  // Told what epoll reports: EPOLLIN, EPOLLOUT, EPOLLHUP, EPOLLERR.
  using Handler = std::function<void(std::uint32_t events)>;
  using TimerId = std::pair<TimePoint, std::uint64_t>;

  static Result<std::unique_ptr<EventLoop>> Start();
  // Tasks posted before still run; then the thread ends.
  ~EventLoop();

  // Any thread: runs the task on the loop's thread, in order.
  void Post(Task task) HVDX_EXCLUDES(mutex_);
  // Any thread: the same, and waits for it. On the loop's thread it runs at once.
  void Run(const Task& task);
  bool OnLoop() const { return std::this_thread::get_id() == thread_.get_id(); }

  // The rest only on the loop's thread. Handlers may remove themselves and each other.
  // Level-triggered: an event comes again until it is dealt with.
  Status Add(int fd, std::uint32_t events, Handler handler);
  void Change(int fd, std::uint32_t events);
  void Remove(int fd);  // before the descriptor is closed
  TimerId At(TimePoint when, Task task);
  void Cancel(const TimerId& timer) { timers_.erase(timer); }

 private:
  EventLoop(Fd epoll, Fd wake);
  void Main();
  void Dispatch(std::uint64_t key, std::uint32_t events);
  void RunTasks() HVDX_EXCLUDES(mutex_);
  void RunTimers();
  int MillisToNextTimer() const;

  // A descriptor's number is soon used again; its turn tells a late event from a new one.
  struct Entry {
    std::uint32_t turn;
    std::shared_ptr<Handler> handler;  // shared: it may remove itself while it runs
  };

  Fd epoll_;
  Fd wake_;
  std::unordered_map<int, Entry> entries_;
  std::map<TimerId, Task> timers_;
  std::uint64_t next_timer_ = 0;
  std::uint32_t next_turn_ = 0;
  std::atomic<bool> stop_{false};
  Mutex mutex_;
  std::vector<Task> tasks_ HVDX_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace horovodx

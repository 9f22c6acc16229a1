#include "horovodx/base/event_loop.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <cerrno>

#include "horovodx/base/check.h"
#include "horovodx/base/socket.h"

namespace horovodx {
namespace {

constexpr std::uint64_t kWakeKey = ~std::uint64_t{0};

std::uint64_t KeyOf(int fd, std::uint32_t turn) {
  return std::uint64_t{turn} << 32 | static_cast<std::uint32_t>(fd);
}

}  // namespace

Result<std::unique_ptr<EventLoop>> EventLoop::Start() {
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  Fd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kWakeKey;
  if (!epoll.valid() || !wake.valid() ||
      ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, wake.get(), &event) != 0) {
    return Status::Unknown("cannot make an event loop: " + ErrnoText(errno));
  }
  return std::unique_ptr<EventLoop>(new EventLoop(std::move(epoll), std::move(wake)));
}

EventLoop::EventLoop(Fd epoll, Fd wake) : epoll_(std::move(epoll)), wake_(std::move(wake)) {
  // Signals are the application's: its threads get them, not ours.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { Main(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

EventLoop::~EventLoop() {
  HVDX_CHECK(!OnLoop());
  Post([this] { stop_ = true; });
  thread_.join();
}

void EventLoop::Post(Task task) {
  bool first = false;
  {
    MutexLock lock(mutex_);
    first = tasks_.empty();
    tasks_.push_back(std::move(task));
  }
  if (first) ::eventfd_write(wake_.get(), 1);
}

void EventLoop::Run(const Task& task) {
  if (OnLoop()) return task();
  struct Done {
    Mutex mutex;
    CondVar changed;
    bool done HVDX_GUARDED_BY(mutex) = false;
  };
  Done done;
  Post([&] {
    task();
    MutexLock lock(done.mutex);
    done.done = true;
    done.changed.NotifyAll();
  });
  MutexLock lock(done.mutex);
  while (!done.done) done.changed.Wait(done.mutex);
}

Status EventLoop::Add(int fd, std::uint32_t events, Handler handler) {
  HVDX_DCHECK(OnLoop());
  const std::uint32_t turn = next_turn_++ & 0x7fffffff;  // never the wake key
  epoll_event event{};
  event.events = events;
  event.data.u64 = KeyOf(fd, turn);
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    return Status::Unknown("cannot watch a descriptor: " + ErrnoText(errno));
  }
  entries_[fd] = {turn, std::make_shared<Handler>(std::move(handler))};
  return Status::Ok();
}

void EventLoop::Change(int fd, std::uint32_t events) {
  HVDX_DCHECK(OnLoop());
  const auto it = entries_.find(fd);
  if (it == entries_.end()) return;
  epoll_event event{};
  event.events = events;
  event.data.u64 = KeyOf(fd, it->second.turn);
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

void EventLoop::Remove(int fd) {
  HVDX_DCHECK(OnLoop());
  if (entries_.erase(fd) != 0) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

EventLoop::TimerId EventLoop::At(TimePoint when, Task task) {
  HVDX_DCHECK(OnLoop());
  const TimerId id{when, next_timer_++};
  timers_.emplace(id, std::move(task));
  return id;
}

void EventLoop::RunTasks() {
  std::vector<Task> tasks;
  {
    MutexLock lock(mutex_);
    tasks.swap(tasks_);
  }
  for (Task& task : tasks) task();
}

void EventLoop::RunTimers() {
  const TimePoint now = Clock::now();
  while (!timers_.empty() && timers_.begin()->first.first <= now) {
    Task task = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    task();
  }
}

int EventLoop::MillisToNextTimer() const {
  if (timers_.empty()) return -1;
  const Deadline next = Deadline::At(timers_.begin()->first.first);
  return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(next.Left()).count());
}

void EventLoop::Dispatch(std::uint64_t key, std::uint32_t events) {
  const auto it = entries_.find(static_cast<int>(key & 0xffffffff));
  if (it == entries_.end() || it->second.turn != key >> 32) return;  // removed in the meantime
  const std::shared_ptr<Handler> handler = it->second.handler;
  (*handler)(events);
}

void EventLoop::Main() {
  epoll_event events[64];
  while (!stop_) {
    const int count = ::epoll_wait(epoll_.get(), events, 64, MillisToNextTimer());
    HVDX_CHECK(count >= 0 || errno == EINTR);
    bool woken = false;
    for (int i = 0; i < count; ++i) {
      if (events[i].data.u64 == kWakeKey) {
        woken = true;
      } else {
        Dispatch(events[i].data.u64, events[i].events);
      }
    }
    RunTimers();
    if (woken) {
      // Before the tasks are taken: what is posted later wakes us again.
      eventfd_t drained = 0;
      ::eventfd_read(wake_.get(), &drained);
      RunTasks();
    }
  }
}

}  // namespace horovodx

#include "horovodx/base/bell.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace horovodx {

void Bell::Ring() const {
  // Partner of the increment in Listener: either this load sees the sleeper, or the sleeper's next
  // look sees what was written before the ring.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (tongue_->sleepers.load(std::memory_order_seq_cst) == 0) return;
  tongue_->rings.fetch_add(1, std::memory_order_seq_cst);
  ::syscall(SYS_futex, &tongue_->rings, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

Bell::Listener::Listener(const Bell& bell) : tongue_(bell.tongue_) {
  tongue_->sleepers.fetch_add(1, std::memory_order_seq_cst);
  heard_ = tongue_->rings.load(std::memory_order_seq_cst);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

Bell::Listener::~Listener() { tongue_->sleepers.fetch_sub(1, std::memory_order_seq_cst); }

bool Bell::Listener::Sleep(const Deadline& deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(deadline.Left()).count();
  if (left <= 0) return false;
  timespec ts{};
  ts.tv_sec = static_cast<time_t>(left / 1'000'000'000);
  ts.tv_nsec = static_cast<long>(left % 1'000'000'000);
  ::syscall(SYS_futex, &tongue_->rings, FUTEX_WAIT, heard_, &ts, nullptr, 0);
  heard_ = tongue_->rings.load(std::memory_order_seq_cst);
  return !deadline.Passed();
}

}  // namespace horovodx

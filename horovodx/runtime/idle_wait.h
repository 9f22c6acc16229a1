// How a blocked caller waits for its peers: first awake, then asleep.
//
// With a core for every rank of the host it spins for a moment: a peer's answer is a microsecond
// away. With fewer cores it gives its core to others that are ready to run, a bounded number of
// times. Then it sleeps on the bell.
#pragma once

#include <sched.h>

#include <optional>
#include <thread>

#include "horovodx/base/clock.h"

namespace horovodx::runtime {

class IdleWait {
 public:
  // `ranks`: on this host.
  IdleWait(int ranks, std::optional<int> spin_microseconds)
      : yields_(static_cast<unsigned>(ranks) > std::thread::hardware_concurrency()),
        awake_(std::chrono::microseconds(
            spin_microseconds.value_or(yields_ ? kYieldMicroseconds : kSpinMicroseconds))) {}

  // A pause after looking in vain; ends early when `stirred` says there is something to look at.
  // `since` is when something last moved. False: time to sleep.
  template <typename Stirred>
  bool Pause(TimePoint now, TimePoint since, Stirred stirred) const {
    if (now - since >= awake_) return false;
    if (yields_) {
      ::sched_yield();
      return true;
    }
    for (int i = 0; i < kPausesBetweenTurns && !stirred(); ++i) __builtin_ia32_pause();
    return true;
  }

 private:
  // Measured: with four ranks on two cores, sleeping at once costs twice the time of yielding.
  static constexpr int kSpinMicroseconds = 100;
  static constexpr int kYieldMicroseconds = 500;
  static constexpr int kPausesBetweenTurns = 64;
  bool yields_;
  Duration awake_;
};

}  // namespace horovodx::runtime

// How a blocked caller waits for its peers: first awake, then asleep.
//
// With a core for every rank of the only host it spins for a moment: a peer's answer is a
// microsecond away. With fewer cores, or with other hosts, it gives its core to others that are
// ready to run (those who fetch its messages, say), for a bounded time. Then it sleeps on the bell.
//
// Giving way is a wish: the kernel may find that others have had their share, and let this thread
// look in vain for a millisecond while the one it waits for is ready to run. So after a moment it
// naps, a little at a time.
#pragma once

#include <sched.h>

#include <optional>
#include <thread>

#include "horovodx/base/clock.h"

namespace horovodx::runtime {

class IdleWait {
 public:
  // `ranks`: on this host.
  IdleWait(int ranks, int hosts, std::optional<int> spin_microseconds)
      : yields_(hosts > 1 || static_cast<unsigned>(ranks) > std::thread::hardware_concurrency()),
        spin_(std::chrono::microseconds(spin_microseconds.value_or(kSpinMicroseconds))),
        yield_(std::chrono::microseconds(spin_microseconds.value_or(kYieldMicroseconds))) {}

  // A pause after looking in vain; ends early when `stirred` says there is something to look at.
  // `since` is when something last moved, `on_links` whether another host or another thread must do
  // something for anything to move; `nap(most)` sleeps until it has, but does not hear submissions.
  // False: time to sleep.
  template <typename Stirred, typename Nap>
  bool Pause(TimePoint now, TimePoint since, bool on_links, Stirred stirred, Nap nap) const {
    const bool yields = yields_ || on_links;
    if (now - since >= (yields ? yield_ : spin_)) return false;
    if (yields) {
      // It may be long before it is this thread's turn again: not if what it waits for has come.
      if (on_links && stirred()) return true;
      if (on_links && now - since >= kNapAfter) nap(kNap);
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
  static constexpr Duration kNapAfter = std::chrono::microseconds(60);
  static constexpr Duration kNap = std::chrono::microseconds(100);
  bool yields_;
  Duration spin_;
  Duration yield_;
};

}  // namespace horovodx::runtime

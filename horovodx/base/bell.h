// A bell: how one thread or process wakes another, at no cost while nobody sleeps.
//
// Each engine has one bell. Whatever may concern it (a submission, a control message, a peer's
// progress on the stage) rings it. Beside it hangs the bell of its links: who waits for bytes of a
// peer is woken by those, and the engine sleeps on. The word may lie in private memory or in memory
// shared between processes.
//
// Waiting is: Listen(); look at what you wait for; if it is not there, Sleep(). A Ring() between
// Listen() and Sleep() makes Sleep() return at once, so nothing is missed.
#pragma once

#include <atomic>
#include <cstdint>

#include "horovodx/base/clock.h"

namespace horovodx {

struct alignas(64) BellWord {
  struct Tongue {
    std::atomic<std::uint32_t> rings{0};
    std::atomic<std::uint32_t> sleepers{0};
  };
  Tongue engine;
  Tongue links;
};

class Bell {
 public:
  explicit Bell(BellWord* word) : word_(word), tongue_(&word->engine) {}
  // The one beside it, for links.
  Bell OfLinks() const { return Bell(word_, &word_->links); }

  // Any thread or process. A fence, a load, and a system call only if somebody sleeps. Everything
  // written before is seen by whoever it wakes.
  void Ring() const;

  // A sleeper's half. Several threads may sleep on one bell; a ring wakes all of them.
  class Listener {
   public:
    explicit Listener(const Bell& bell);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    // Returns after a ring since construction (or the last Sleep), a while, or at the deadline:
    // look again. False at the deadline.
    bool Sleep(const Deadline& deadline);

   private:
    BellWord::Tongue* tongue_;
    std::uint32_t heard_;
  };

 private:
  Bell(BellWord* word, BellWord::Tongue* tongue) : word_(word), tongue_(tongue) {}

  BellWord* word_;
  BellWord::Tongue* tongue_;
};

}  // namespace horovodx

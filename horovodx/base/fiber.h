// Fiber: a function on a stack of its own, which may stop in the middle and be run on later.
//
// So code that waits can be written plainly and still be run a little at a time by a thread that
// has other things to do. Another thread may run it on, too: the function must not keep the address
// of anything thread-local (errno among them) over a Pause().
//
// Thread: one at a time; who goes on with it has synchronised with who ran it before.
#pragma once

#include <cstddef>
#include <functional>

#include "horovodx/base/stack_switch.h"

namespace horovodx {

class Fiber {
 public:
  explicit Fiber(std::size_t stack_bytes = kStackBytes);
  // Nothing may be under way.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // False if there was no memory for the stack: then it cannot be used.
  bool usable() const { return stack_ != nullptr; }
  // Runs `function` until it pauses or returns. Only when nothing is under way.
  void Start(std::function<void()> function);
  // Runs it on, until it pauses again or returns.
  void Resume();
  // Something is under way.
  bool active() const { return active_; }
  // From the function: back to whoever runs it. Returns when it is run on.
  void Pause();

 private:
  static constexpr std::size_t kStackBytes = 256 << 10;

  // What the sanitizers must know of a stack.
  struct Side {
    void* tsan = nullptr;
    void* fake_stack = nullptr;
    const void* bottom = nullptr;
    std::size_t size = 0;
  };

  void Run();
  void Switch(StackPoint& from, Side& from_side, const StackPoint& to, const Side& to_side,
              bool for_good);
  void Arrived(const Side& here, Side& came_from);

  std::byte* stack_ = nullptr;
  std::size_t mapped_ = 0;
  StackPoint own_;
  StackPoint caller_;
  Side own_side_;
  Side caller_side_;
  std::function<void()> function_;
  bool active_ = false;
};

}  // namespace horovodx

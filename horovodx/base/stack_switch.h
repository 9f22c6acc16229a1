// StackPoint: where the code of a stack has stopped, and how to change to it from another.
//
// On x86-64 a change takes a few nanoseconds. Elsewhere ucontext.h does it, which asks the kernel
// to keep the signal mask each time; nobody here changes that, so it need not be kept.
//
// Thread: one at a time.
#pragma once

#include <cstddef>

#if !defined(__x86_64__) || defined(HVDX_STACKS_BY_UCONTEXT)
#include <ucontext.h>
#define HVDX_STACKS_ARE_CONTEXTS 1
#endif

namespace horovodx {

class StackPoint {
 public:
  // The beginning of a stack: who changes to it calls entry(argument), which must not return.
  void Prepare(std::byte* bottom, std::size_t bytes, void (*entry)(void*), void* argument);
  // Stops here, in `from`, and goes on in `to`. Returns when somebody changes to `from`.
  static void Change(StackPoint& from, const StackPoint& to);

 private:
#ifdef HVDX_STACKS_ARE_CONTEXTS
  ucontext_t context_{};
#else
  void* pointer_ = nullptr;  // to what Change has pushed
#endif
};

}  // namespace horovodx

#include "horovodx/base/stack_switch.h"

#include <array>
#include <cstdint>
#include <cstring>

namespace horovodx {

#ifdef HVDX_STACKS_ARE_CONTEXTS

namespace {

using Entry = void (*)(void*);

// makecontext passes ints.
void Begin(unsigned entry_low, unsigned entry_high, unsigned low, unsigned high) {
  const auto whole = [](unsigned l, unsigned h) {
    return l | static_cast<std::uintptr_t>(h) << 32;
  };
  reinterpret_cast<Entry>(whole(entry_low, entry_high))(reinterpret_cast<void*>(whole(low, high)));
}

}  // namespace

void StackPoint::Prepare(std::byte* bottom, std::size_t bytes, Entry entry, void* argument) {
  ::getcontext(&context_);
  context_.uc_stack.ss_sp = bottom;
  context_.uc_stack.ss_size = bytes;
  context_.uc_link = nullptr;
  const auto low = [](auto pointer) {
    return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(pointer) & 0xffffffffu);
  };
  const auto high = [](auto pointer) {
    return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(pointer) >> 32);
  };
  ::makecontext(&context_, reinterpret_cast<void (*)()>(&Begin), 4, low(entry), high(entry),
                low(argument), high(argument));
}

void StackPoint::Change(StackPoint& from, const StackPoint& to) {
  ::swapcontext(&from.context_, &to.context_);
}

#else

namespace {

#define HVDX_BARE \
  __attribute__((naked, noinline, no_instrument_function, no_sanitize("address", "thread")))

// What a called function must keep is kept on its stack; all else the compiler has saved already.
HVDX_BARE void ChangeTo(void** /*from: rdi*/, void* /*to: rsi*/) {
  asm volatile(
      "pushq %rbp\n\t"
      "pushq %rbx\n\t"
      "pushq %r12\n\t"
      "pushq %r13\n\t"
      "pushq %r14\n\t"
      "pushq %r15\n\t"
      "movq %rsp, (%rdi)\n\t"
      "movq %rsi, %rsp\n\t"
      "popq %r15\n\t"
      "popq %r14\n\t"
      "popq %r13\n\t"
      "popq %r12\n\t"
      "popq %rbx\n\t"
      "popq %rbp\n\t"
      "ret\n\t");
}

// Where ChangeTo returns to on a stack that has just been prepared.
HVDX_BARE void Begin() {
  asm volatile(
      "movq %r13, %rdi\n\t"
      "callq *%r12\n\t"
      "ud2\n\t");
}

}  // namespace

void StackPoint::Prepare(std::byte* bottom, std::size_t bytes, void (*entry)(void*),
                         void* argument) {
  // As ChangeTo pops them. Above them the stack is aligned, as it must be before a call.
  const std::array<void*, 7> pushed = {nullptr,                         // r15
                                       nullptr,                         // r14
                                       argument,                        // r13
                                       reinterpret_cast<void*>(entry),  // r12
                                       nullptr,                         // rbx
                                       nullptr,                         // rbp: nobody called
                                       reinterpret_cast<void*>(&Begin)};
  const std::size_t top = bytes - reinterpret_cast<std::uintptr_t>(bottom + bytes) % 16;
  std::byte* const begin = bottom + top - sizeof(pushed);
  std::memcpy(begin, pushed.data(), sizeof(pushed));
  pointer_ = begin;
}

void StackPoint::Change(StackPoint& from, const StackPoint& to) {
  ChangeTo(&from.pointer_, to.pointer_);
}

#endif

}  // namespace horovodx

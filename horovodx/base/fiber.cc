#include "horovodx/base/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "horovodx/base/check.h"

#if defined(__SANITIZE_THREAD__)
#define HVDX_FIBER_TSAN 1
#elif defined(__SANITIZE_ADDRESS__)
#define HVDX_FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HVDX_FIBER_TSAN 1
#elif __has_feature(address_sanitizer)
#define HVDX_FIBER_ASAN 1
#endif
#endif

#ifdef HVDX_FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif
#ifdef HVDX_FIBER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace horovodx {
namespace {

std::size_t PageBytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

}  // namespace

Fiber::Fiber(std::size_t stack_bytes) {
  // The lowest page stays forbidden: who runs out of stack stops there.
  const std::size_t page = PageBytes();
  mapped_ = (stack_bytes + page - 1) / page * page + page;
  void* memory = ::mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_ = static_cast<std::byte*>(memory);
  if (::mprotect(stack_ + page, mapped_ - page, PROT_READ | PROT_WRITE) != 0) {
    ::munmap(stack_, mapped_);
    stack_ = nullptr;
    return;
  }
  own_side_.bottom = stack_ + page;
  own_side_.size = mapped_ - page;
#ifdef HVDX_FIBER_TSAN
  own_side_.tsan = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
  HVDX_CHECK(!active_);
  if (stack_ == nullptr) return;
#ifdef HVDX_FIBER_TSAN
  __tsan_destroy_fiber(own_side_.tsan);
#endif
  ::munmap(stack_, mapped_);
}

void Fiber::Start(std::function<void()> function) {
  HVDX_CHECK(usable() && !active_);
  function_ = std::move(function);
  active_ = true;
  own_side_.fake_stack = nullptr;
#ifdef HVDX_FIBER_ASAN
  // Who ran here last left its stack for good, and never told what it needs no more.
  __asan_unpoison_memory_region(own_side_.bottom, own_side_.size);
#endif
  const auto enter = [](void* self) { static_cast<Fiber*>(self)->Run(); };
  own_.Prepare(stack_ + mapped_ - own_side_.size, own_side_.size, enter, this);
  Resume();
}

void Fiber::Resume() {
  HVDX_CHECK(active_);
#ifdef HVDX_FIBER_TSAN
  caller_side_.tsan = __tsan_get_current_fiber();
#endif
  Switch(caller_, caller_side_, own_, own_side_, /*for_good=*/false);
  Side unused;
  Arrived(caller_side_, unused);
}

void Fiber::Pause() {
  Switch(own_, own_side_, caller_, caller_side_, /*for_good=*/false);
  Arrived(own_side_, caller_side_);
}

void Fiber::Run() {
  Arrived(own_side_, caller_side_);
  std::exchange(function_, nullptr)();
  active_ = false;
  Switch(own_, own_side_, caller_, caller_side_, /*for_good=*/true);
}

// The other side is either at the same place of this function, or enters Run for the first time.
void Fiber::Switch(StackPoint& from, [[maybe_unused]] Side& from_side, const StackPoint& to,
                   [[maybe_unused]] const Side& to_side, [[maybe_unused]] bool for_good) {
#ifdef HVDX_FIBER_TSAN
  __tsan_switch_to_fiber(to_side.tsan, 0);
#endif
#ifdef HVDX_FIBER_ASAN
  __sanitizer_start_switch_fiber(for_good ? nullptr : &from_side.fake_stack, to_side.bottom,
                                 to_side.size);
#endif
  StackPoint::Change(from, to);
}

void Fiber::Arrived([[maybe_unused]] const Side& here, [[maybe_unused]] Side& came_from) {
#ifdef HVDX_FIBER_ASAN
  __sanitizer_finish_switch_fiber(here.fake_stack, &came_from.bottom, &came_from.size);
#endif
}

}  // namespace horovodx

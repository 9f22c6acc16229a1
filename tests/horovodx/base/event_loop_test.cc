#include "horovodx/base/event_loop.h"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <thread>
#include <vector>

namespace horovodx {
namespace {

struct Loop {
  std::unique_ptr<EventLoop> loop = std::move(EventLoop::Start()).value();
  EventLoop* operator->() { return loop.get(); }
};

TEST(EventLoopTest, TasksOfOneThreadRunInOrder) {
  Loop loop;
  std::vector<int> seen;  // touched on the loop only
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 1000; ++i) loop->Post([&seen, t, i] { seen.push_back(t * 1000 + i); });
    });
  }
  for (std::thread& thread : threads) thread.join();
  loop->Run([&] {
    EXPECT_TRUE(loop->OnLoop());
    std::vector<int> next(3, 0);
    ASSERT_EQ(seen.size(), 3000u);
    for (const int number : seen) ASSERT_EQ(number % 1000, next[number / 1000]++);
  });
  EXPECT_FALSE(loop->OnLoop());
}

TEST(EventLoopTest, WhatWasPostedBeforeTheEndStillRuns) {
  int ran = 0;
  {
    Loop loop;
    for (int i = 0; i < 10; ++i) loop->Post([&] { ++ran; });
  }
  EXPECT_EQ(ran, 10);
}

TEST(EventLoopTest, TimersFireInOrderOfTimeAndNotWhenCancelled) {
  Loop loop;
  std::vector<int> fired;
  Mutex mutex;
  CondVar changed;
  bool done = false;
  loop->Post([&] {
    const TimePoint now = Clock::now();
    loop->At(now + std::chrono::milliseconds(20), [&] {
      MutexLock lock(mutex);
      done = true;
      changed.NotifyAll();
    });
    loop->At(now + std::chrono::milliseconds(2), [&] { fired.push_back(2); });
    const auto never = loop->At(now + std::chrono::milliseconds(3), [&] { fired.push_back(3); });
    loop->At(now + std::chrono::milliseconds(1), [&, never] {
      fired.push_back(1);
      loop->Cancel(never);
    });
  });
  MutexLock lock(mutex);
  while (!done) ASSERT_TRUE(changed.WaitUntil(mutex, Clock::now() + Seconds(30)));
  EXPECT_EQ(fired, (std::vector<int>{1, 2}));
}

TEST(EventLoopTest, HandlerMayRemoveItselfAndOthersOfTheSameBatch) {
  Loop loop;
  Fd a(::eventfd(1, EFD_NONBLOCK)), b(::eventfd(1, EFD_NONBLOCK));
  std::vector<char> called;
  loop->Run([&] {
    // Both are ready at once: whoever comes first takes the other out too.
    const auto handler = [&](char name) {
      return [&, name](std::uint32_t events) {
        EXPECT_TRUE(events & EPOLLIN);
        called.push_back(name);
        loop->Remove(a.get());
        loop->Remove(b.get());
      };
    };
    ASSERT_TRUE(loop->Add(a.get(), EPOLLIN, handler('a')).ok());
    ASSERT_TRUE(loop->Add(b.get(), EPOLLIN, handler('b')).ok());
  });
  // Each Run is a turn of the loop: the events came before one of them.
  for (int i = 0; i < 100; ++i) loop->Run([] {});
  loop->Run([&] { EXPECT_EQ(called.size(), 1u); });
}

TEST(EventLoopTest, WatchingWhatIsNotADescriptorIsAnError) {
  Loop loop;
  loop->Run([&] { EXPECT_FALSE(loop->Add(-1, EPOLLIN, [](auto) {}).ok()); });
}

}  // namespace
}  // namespace horovodx

#include "horovodx/base/fiber.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

namespace horovodx {
namespace {

// Not inlined: else the thread would be asked for once, which is what fiber.h warns of.
__attribute__((noinline)) std::thread::id Here() { return std::this_thread::get_id(); }

TEST(FiberTest, StopsInTheMiddleAndIsRunOn) {
  Fiber fiber;
  ASSERT_TRUE(fiber.usable());
  std::string said;
  fiber.Start([&] {
    said += "a";
    fiber.Pause();
    said += "c";
    fiber.Pause();
    said += "e";
  });
  EXPECT_TRUE(fiber.active());
  said += "b";
  fiber.Resume();
  said += "d";
  fiber.Resume();
  EXPECT_FALSE(fiber.active());
  EXPECT_EQ(said, "abcde");
}

TEST(FiberTest, KeepsWhatIsOnItsStackAndIsUsedAgain) {
  Fiber fiber;
  for (int round = 0; round < 100; ++round) {
    long sum = 0;
    fiber.Start([&] {
      std::array<int, 1000> mine{};
      for (int i = 0; i < 1000; ++i) {
        mine[i] = i + round;
        if (i % 100 == 0) fiber.Pause();
      }
      for (const int value : mine) sum += value;
    });
    while (fiber.active()) fiber.Resume();
    EXPECT_EQ(sum, 999 * 1000 / 2 + 1000L * round);
  }
}

// What it waits for may outlast the thread that began it.
TEST(FiberTest, AnotherThreadMayRunItOn) {
  Fiber fiber;
  std::vector<std::thread::id> seen;
  fiber.Start([&] {
    for (int i = 0; i < 20; ++i) {
      seen.push_back(Here());
      fiber.Pause();
    }
  });
  while (fiber.active()) std::thread([&] { fiber.Resume(); }).join();
  ASSERT_EQ(seen.size(), 20u);
  EXPECT_NE(seen[0], seen[1]);
}

TEST(FiberTest, OneInsideAnother) {
  Fiber outer;
  Fiber inner;
  std::string said;
  outer.Start([&] {
    inner.Start([&] {
      said += "1";
      inner.Pause();
      said += "3";
    });
    said += "2";
    outer.Pause();
    inner.Resume();
    said += "4";
  });
  outer.Resume();
  EXPECT_EQ(said, "1234");
}

TEST(FiberTest, WithoutMemoryForAStackItSaysSo) {
  Fiber fiber(std::size_t{1} << 60);
  EXPECT_FALSE(fiber.usable());
}

}  // namespace
}  // namespace horovodx

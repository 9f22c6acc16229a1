#include "horovodx/base/fiber.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
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

// As the compiler may assume when it moves several numbers at once.
TEST(FiberTest, ItsStackIsAlignedLikeAnyOther) {
  Fiber fiber;
  std::size_t odd = 1;
  fiber.Start([&] {
    alignas(16) volatile double here[2] = {1.5, 2.5};
    odd = reinterpret_cast<std::uintptr_t>(&here[0]) % 16;
    const std::string text = std::to_string(here[0] + here[1]);  // asks for aligned moves, too
    EXPECT_EQ(text.substr(0, 3), "4.0");
  });
  EXPECT_EQ(odd, 0u);
}

// Whoever changes stacks finds its registers as they were.
TEST(FiberTest, NumbersOnBothSidesAreKept) {
  Fiber fiber;
  std::uint64_t theirs = 1;
  fiber.Start([&] {
    std::uint64_t a = 3, b = 5, c = 7, d = 11, e = 13, f = 17;
    for (int i = 0; i < 50; ++i) {
      a += b, b ^= c, c += d, d ^= e, e += f, f ^= a;
      fiber.Pause();
    }
    theirs = a ^ b ^ c ^ d ^ e ^ f;
  });
  std::uint64_t a = 3, b = 5, c = 7, d = 11, e = 13, f = 17;
  for (int i = 0; i < 50; ++i) {
    a += b, b ^= c, c += d, d ^= e, e += f, f ^= a;
    fiber.Resume();
  }
  EXPECT_FALSE(fiber.active());
  EXPECT_EQ(theirs, a ^ b ^ c ^ d ^ e ^ f);
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

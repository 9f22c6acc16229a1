#include "horovodx/base/bell.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace horovodx {
namespace {

TEST(BellTest, RingBetweenListeningAndSleepingIsNotMissed) {
  BellWord word;
  Bell bell(&word);
  Bell::Listener listener(bell);
  bell.Ring();
  EXPECT_TRUE(listener.Sleep(Deadline::After(Seconds(30))));
}

TEST(BellTest, SleepReturnsFalseAtItsDeadline) {
  BellWord word;
  Bell::Listener listener{Bell(&word)};
  EXPECT_FALSE(listener.Sleep(Deadline::After(Seconds(0.01))));
}

TEST(BellTest, LinksWakeWhoWaitsForThemAndTheEngineSleepsOn) {
  BellWord word;
  Bell bell(&word);
  Bell::Listener engine(bell);
  Bell::Listener lane(bell.OfLinks());
  bell.OfLinks().Ring();
  EXPECT_TRUE(lane.Sleep(Deadline::After(Seconds(30))));
  EXPECT_FALSE(engine.Sleep(Deadline::After(Seconds(0.01))));
  bell.Ring();
  EXPECT_TRUE(engine.Sleep(Deadline::After(Seconds(30))));
  EXPECT_FALSE(lane.Sleep(Deadline::After(Seconds(0.01))));
}

TEST(BellTest, EveryHandOverArrivesInBothDirections) {
  BellWord left_word, right_word;
  Bell left(&left_word), right(&right_word);
  std::atomic<int> ball{0};
  constexpr int kTurns = 5000;
  auto play = [&](Bell& mine, Bell& theirs, int parity) {
    for (int turn = parity; turn < kTurns; turn += 2) {
      Bell::Listener listener(mine);
      while (ball.load() != turn) ASSERT_TRUE(listener.Sleep(Deadline::After(Seconds(30))));
      ball.store(turn + 1);
      theirs.Ring();
    }
  };
  std::thread other([&] { play(right, left, 1); });
  play(left, right, 0);
  other.join();
  EXPECT_EQ(ball.load(), kTurns);
}

}  // namespace
}  // namespace horovodx

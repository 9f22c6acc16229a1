#include "horovodx/runtime/lane.h"

#include <gtest/gtest.h>

#include <string>

namespace horovodx::runtime {
namespace {

class LaneTest : public testing::Test {
 protected:
  Status WaitForResult(Lane& lane) {
    Status status;
    while (true) {
      Bell::Listener listener(bell_);
      if (lane.TakeResult(status)) return status;
      if (!listener.Sleep(Deadline::After(Seconds(30)))) return Status::Unknown("no result");
    }
  }

  BellWord word_;
  Bell bell_{&word_};
};

// The thread is found asleep, awake, and on its way from one to the other.
TEST_F(LaneTest, RunsOneJobAfterTheOtherWhereverItsThreadIs) {
  for (const auto awake : {std::chrono::microseconds(0), std::chrono::microseconds(1),
                           std::chrono::microseconds(50), std::chrono::microseconds(60'000'000)}) {
    Lane lane(bell_);
    int done = 0;
    for (int i = 0; i < 200; ++i) {
      lane.Post([&done, i] { return ++done == i + 1 ? Status::Ok() : Status::Unknown("lost"); },
                awake);
      EXPECT_TRUE(lane.busy());
      ASSERT_TRUE(WaitForResult(lane).ok()) << "job " << i;
      EXPECT_FALSE(lane.busy());
    }
    EXPECT_EQ(done, 200);
  }  // ends at once, also awake
}

TEST_F(LaneTest, SaysWhenAResultIsThere) {
  Lane lane(bell_);
  EXPECT_FALSE(lane.ended());
  lane.Post([] { return Status::Unknown("why"); });
  while (!lane.ended()) std::this_thread::yield();
  EXPECT_EQ(WaitForResult(lane).message(), "why");
  EXPECT_FALSE(lane.ended());
}

}  // namespace
}  // namespace horovodx::runtime

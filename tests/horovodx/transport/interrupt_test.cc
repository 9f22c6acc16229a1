#include "horovodx/transport/interrupt.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

namespace horovodx::transport {
namespace {

class InterruptTest : public testing::Test {
 protected:
  bool Readable() {
    pollfd wait{interrupt_.fd(), POLLIN, 0};
    return ::poll(&wait, 1, 0) == 1;
  }
  BellWord word_;
  Interrupt interrupt_{Bell(&word_)};
};

TEST_F(InterruptTest, AtFirstNothingIsRaised) {
  EXPECT_FALSE(interrupt_.raised());
  EXPECT_TRUE(interrupt_.Check().ok());
  EXPECT_FALSE(Readable());
}

TEST_F(InterruptTest, FirstReasonStays) {
  interrupt_.Raise(Status::Unknown("rank 2 died"));
  interrupt_.Raise(Status::Unknown("rank 3 died"));
  EXPECT_TRUE(interrupt_.raised());
  EXPECT_TRUE(Readable());
  EXPECT_EQ(interrupt_.Check().message(), "rank 2 died");
}

TEST_F(InterruptTest, CancellationIsClearedForGood) {
  interrupt_.Raise(Status::Cancelled("dropped"));
  interrupt_.Raise(Status::Cancelled("dropped again"));
  EXPECT_EQ(interrupt_.Check().message(), "dropped");
  interrupt_.Clear();
  EXPECT_FALSE(interrupt_.raised());
  EXPECT_FALSE(Readable());
  EXPECT_TRUE(interrupt_.Check().ok());
}

TEST_F(InterruptTest, FailureReplacesCancellationAndIsNeverCleared) {
  interrupt_.Raise(Status::Cancelled("dropped"));
  interrupt_.Raise(Status::Unknown("rank 2 died"));
  EXPECT_EQ(interrupt_.Check().code(), StatusCode::kUnknown);
  interrupt_.Clear();
  EXPECT_EQ(interrupt_.Check().message(), "rank 2 died");
  EXPECT_TRUE(Readable());
  interrupt_.Raise(Status::Cancelled("dropped"));
  EXPECT_EQ(interrupt_.Check().message(), "rank 2 died");
}

TEST_F(InterruptTest, RaisingRingsTheBell) {
  Bell::Listener listener{Bell(&word_)};
  std::thread engine([&] { interrupt_.Raise(Status::Unknown("over")); });
  const Deadline deadline = Deadline::After(Seconds(30));
  while (!interrupt_.raised()) ASSERT_TRUE(listener.Sleep(deadline));
  engine.join();
}

}  // namespace
}  // namespace horovodx::transport

#include "horovodx/transport/tcp/berth.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

namespace horovodx::transport::tcp {
namespace {

Fd AnyFd() { return Fd(::eventfd(0, 0)); }

struct BerthTest : testing::Test {
  BellWord word;
  Berth berth{Bell(&word)};
};

TEST_F(BerthTest, IsReadyWithTheLastSocket) {
  Bell::Listener listener{Bell(&word).OfLinks()};
  ASSERT_TRUE(berth.Deposit(1, 2, AnyFd()).ok());
  EXPECT_FALSE(berth.ready());
  ASSERT_TRUE(berth.Deposit(0, 2, AnyFd()).ok());
  EXPECT_TRUE(berth.ready());
  EXPECT_TRUE(listener.Sleep(Deadline::After(Seconds(30)))) << "it rang";
  EXPECT_EQ(berth.Take()->size(), 2u);
}

TEST_F(BerthTest, RefusesWhatDoesNotFit) {
  EXPECT_FALSE(berth.Deposit(0, 0, AnyFd()).ok());
  EXPECT_FALSE(berth.Deposit(0, kMostStreams + 1, AnyFd()).ok());
  ASSERT_TRUE(berth.Deposit(0, 2, AnyFd()).ok());
  EXPECT_FALSE(berth.Deposit(0, 2, AnyFd()).ok()) << "there already";
  EXPECT_FALSE(berth.Deposit(1, 3, AnyFd()).ok()) << "another number of streams";
  EXPECT_FALSE(berth.Deposit(2, 2, AnyFd()).ok()) << "out of range";
  ASSERT_TRUE(berth.Deposit(1, 2, AnyFd()).ok());
  ASSERT_TRUE(berth.Take().ok());
  EXPECT_FALSE(berth.Deposit(0, 2, AnyFd()).ok()) << "taken";
}

TEST_F(BerthTest, FirstFailureStays) {
  ASSERT_TRUE(berth.Deposit(0, 2, AnyFd()).ok());
  berth.Fail(Status::Unknown("first"));
  berth.Fail(Status::Unknown("second"));
  EXPECT_TRUE(berth.ready());
  EXPECT_EQ(berth.Take().status().message(), "first");
}

}  // namespace
}  // namespace horovodx::transport::tcp

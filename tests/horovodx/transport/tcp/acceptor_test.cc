#include "horovodx/transport/tcp/acceptor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/horovodx/transport/tcp/world.h"

namespace horovodx::transport::tcp {
namespace {

TEST(AcceptorTest, SocketsGoToTheBerthOfTheirChannelAndRank) {
  World world(3);
  const auto wanted = world.at(2).acceptor->BerthOf(5, 1);
  const auto other_channel = world.at(2).acceptor->BerthOf(6, 1);
  const auto other_rank = world.at(2).acceptor->BerthOf(5, 0);
  Bell::Listener listener(world.at(2).bell.OfLinks());
  const Fd fd = Insider(world, {Purpose::kLink, 1, 2, 5, 0, 1});
  while (!wanted->ready()) ASSERT_TRUE(listener.Sleep(Soon()));
  EXPECT_FALSE(other_channel->ready());
  EXPECT_FALSE(other_rank->ready());
  EXPECT_EQ(wanted->Take()->size(), 1u);
}

TEST(AcceptorTest, CallsWaitUntilTheCourierIsThere) {
  World world(2);
  const Fd fd = Insider(world, {Purpose::kCourier, 1, 0, 0, 0, 0});
  ASSERT_TRUE(fd.valid());
  Mutex mutex;
  CondVar changed;
  int from = -1;
  world.at(0).io->loop().Run([&] {
    world.at(0).acceptor->SetCourierOnIo([&](Arrival call) {
      MutexLock lock(mutex);
      from = call.claims.from;
      changed.NotifyAll();
    });
  });
  {
    MutexLock lock(mutex);
    while (from < 0) ASSERT_TRUE(changed.WaitUntil(mutex, Soon().at()));
    EXPECT_EQ(from, 1);
  }
  world.at(0).io->loop().Run([&] { world.at(0).acceptor->SetCourierOnIo(nullptr); });
}

TEST(AcceptorTest, SecondSocketForTheSameStreamIsDropped) {
  World world(2);
  const auto berth = world.at(0).acceptor->BerthOf(5, 1);
  const Fd first = Insider(world, {Purpose::kLink, 1, 0, 5, 0, 2});
  const Fd second = Insider(world, {Purpose::kLink, 1, 0, 5, 0, 2});
  EXPECT_TRUE(IsDropped(second));
  const Fd other = Insider(world, {Purpose::kLink, 1, 0, 5, 1, 2});
  Bell::Listener listener(world.at(0).bell.OfLinks());
  while (!berth->ready()) ASSERT_TRUE(listener.Sleep(Soon()));
}

TEST(AcceptorTest, DoesNotServeTheStore) {
  World world(1);
  EXPECT_FALSE(Insider(world, {Purpose::kStore, -1, 0, 0, 0, 0}).valid());
}

}  // namespace
}  // namespace horovodx::transport::tcp

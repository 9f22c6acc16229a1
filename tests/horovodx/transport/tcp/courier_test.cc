#include "horovodx/transport/tcp/courier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "horovodx/base/little_endian.h"
#include "tests/horovodx/transport/tcp/world.h"

namespace horovodx::transport::tcp {
namespace {

using testing::HasSubstr;

std::vector<std::byte> Text(const std::string& text) {
  const ConstBytes bytes = BytesOf(text.data(), text.size());
  return {bytes.begin(), bytes.end()};
}

TEST(CourierTest, MessagesGoUpAndDownTheTreeInOrder) {
  World world(topology::HostMap({"a", "a", "b", "b"}));
  auto couriers = world.NewCouriers();
  constexpr int kMessages = 500;
  for (int i = 0; i < kMessages; ++i) {
    couriers[1]->Send(0, Text("one " + std::to_string(i)));
    couriers[3]->Send(2, Text("three " + std::to_string(i)));
    couriers[0]->Send(2, Text("zero " + std::to_string(i)));
  }
  const auto at_0 = Await(world.at(0), *couriers[0], kMessages);
  const auto at_2 = Await(world.at(2), *couriers[2], 2 * kMessages);
  ASSERT_EQ(at_0.size(), std::size_t{kMessages});
  ASSERT_EQ(at_2.size(), std::size_t{2 * kMessages});
  for (int i = 0; i < kMessages; ++i) {
    EXPECT_EQ(at_0[i].from, 1);
    EXPECT_EQ(at_0[i].message, Text("one " + std::to_string(i)));
  }
  int from_0 = 0, from_3 = 0;
  for (const Delivery& delivery : at_2) {
    EXPECT_EQ(delivery.message, delivery.from == 0 ? Text("zero " + std::to_string(from_0++))
                                                   : Text("three " + std::to_string(from_3++)));
  }
  EXPECT_FALSE(couriers[0]->HasMail());
  EXPECT_TRUE(couriers[0]->Receive().empty());
}

TEST(CourierTest, EmptyAndLargeMessagesArrive) {
  World world(2);
  auto couriers = world.NewCouriers();
  std::vector<std::byte> large(20'000'000);
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<std::byte>(i * 7 + i / 999);
  couriers[1]->Send(0, {});
  couriers[1]->Send(0, large);
  couriers[1]->Send(0, Text("after"));
  couriers[1]->Flush(60);
  const auto deliveries = Await(world.at(0), *couriers[0], 3);
  ASSERT_EQ(deliveries.size(), 3u);
  EXPECT_TRUE(deliveries[0].message.empty());
  EXPECT_TRUE(deliveries[0].lost.ok());
  EXPECT_TRUE(deliveries[1].message == large);
  EXPECT_EQ(deliveries[2].message, Text("after"));
}

TEST(CourierTest, ManyThreadsMaySend) {
  World world(2);
  auto couriers = world.NewCouriers();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        std::vector<std::byte> message(1 + i * 37, static_cast<std::byte>(t));
        message[0] = static_cast<std::byte>(i);
        couriers[1]->Send(0, message);
      }
    });
  }
  const auto deliveries = Await(world.at(0), *couriers[0], 800);
  for (std::thread& thread : threads) thread.join();
  std::vector<int> next(4, 0);
  for (const Delivery& delivery : deliveries) {
    if (delivery.message.size() == 1) continue;  // carries no thread number
    const int t = static_cast<int>(delivery.message[1]);
    const int i = static_cast<int>((delivery.message.size() - 1) / 37);
    EXPECT_EQ(i, ++next[t]);
    EXPECT_EQ(delivery.message[0], static_cast<std::byte>(i));
  }
  EXPECT_EQ(next, std::vector<int>(4, 199));
}

TEST(CourierTest, WhatWasSentLastArrivesBeforeTheEndIsReportedOnce) {
  World world(3);
  auto couriers = world.NewCouriers();
  couriers[2]->Send(0, Text("goodbye"));
  couriers[2]->Flush(60);
  couriers[2].reset();
  const auto deliveries = Await(world.at(0), *couriers[0], 2);
  ASSERT_EQ(deliveries.size(), 2u);
  EXPECT_EQ(deliveries[0].message, Text("goodbye"));
  EXPECT_EQ(deliveries[1].from, 2);
  EXPECT_EQ(deliveries[1].lost.message(),
            "rank 2 (host host0, " + world.addresses[2].ToString() +
                "): connection closed, so its process has ended or the network broke");
  couriers[0]->Send(2, Text("into the void"));  // no harm, and no second report:
  couriers[1]->Send(0, Text("still here"));
  const auto later = Await(world.at(0), *couriers[0]);
  ASSERT_EQ(later.size(), 1u);
  EXPECT_EQ(later[0].message, Text("still here"));
}

// A neighbour that shook hands and said hello, then reads and writes nothing more.
Fd FrozenRank(World& world, int rank) {
  Fd fd = Insider(world, {Purpose::kCourier, rank, 0, 0, 0, 0});
  FrameQueue queue;
  queue.Push(0, {});
  EXPECT_TRUE(queue.SendSome(fd.get()).ok());
  return fd;
}

TEST(CourierTest, ExpectedGoodbyesAreNoNews) {
  World world(2);
  Fd leaving = FrozenRank(world, 1);
  const auto zero = std::move(world.NewCourier(0)).value();
  for (int i = 0; i < 64; ++i) zero->Send(1, std::vector<std::byte>(1 << 20));
  zero->ExpectGoodbyes();
  leaving.Reset();
  zero->Flush(60);  // too much for the socket: only the end of the connection ends this
  EXPECT_FALSE(zero->HasMail());
}

TEST(CourierTest, WhoHasSleptDoesNotBlameTheOthersForTheSilence) {
  World world(2);
  const Fd frozen = FrozenRank(world, 1);
  const auto zero = std::move(world.NewCourier(0, 2)).value();
  world.at(0).io->loop().Run([] { std::this_thread::sleep_for(std::chrono::seconds(3)); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  world.at(0).io->loop().Run([] {});  // the tick that was due has come
  EXPECT_FALSE(zero->HasMail()) << "the other may have slept as well";
  EXPECT_EQ(Await(world.at(0), *zero).size(), 1u) << "but not for ever";
}

TEST(CourierTest, SilentNeighbourIsReportedOnceAndTheOthersGoOn) {
  World world(3);
  std::unique_ptr<Courier> zero, one;
  std::thread other([&] { one = std::move(world.NewCourier(1, 0.2)).value(); });
  const Fd frozen = FrozenRank(world, 2);
  zero = std::move(world.NewCourier(0, 0.2)).value();
  other.join();
  // More than the socket holds: a sender must not block on the frozen one.
  for (int i = 0; i < 64; ++i) zero->Send(2, std::vector<std::byte>(1 << 20));
  const auto deliveries = Await(world.at(0), *zero);
  ASSERT_EQ(deliveries.size(), 1u);
  EXPECT_EQ(deliveries[0].from, 2);
  EXPECT_EQ(deliveries[0].lost.message(),
            "rank 2 (host host0, " + world.addresses[2].ToString() +
                "): silent for 0.2 s, so it was stopped or its host or network is down");
  zero->Flush(60);  // nothing is waited for any more
  one->Send(0, Text("still here"));
  const auto later = Await(world.at(0), *zero);
  ASSERT_EQ(later.size(), 1u);
  EXPECT_EQ(later[0].message, Text("still here")) << "heartbeats kept rank 1 alive";
}

TEST(CourierTest, FlushGivesUpOnANeighbourThatDoesNotRead) {
  World world(2);
  const Fd frozen = FrozenRank(world, 1);
  const auto zero = std::move(world.NewCourier(0, 60)).value();
  for (int i = 0; i < 64; ++i) zero->Send(1, std::vector<std::byte>(1 << 20));
  zero->Flush(0.05);
  EXPECT_FALSE(zero->HasMail()) << "nobody is lost yet";
}

TEST(CourierTest, NeighbourThatBreaksTheProtocolIsLost) {
  World world(3);
  const Fd oversized = FrozenRank(world, 1);
  const Fd strange = FrozenRank(world, 2);
  const auto zero = std::move(world.NewCourier(0)).value();
  std::byte header[kFrameHeaderBytes] = {};
  PutLittle(static_cast<std::uint32_t>(kMostMessageBytes + 1), header);
  ASSERT_EQ(::send(oversized.get(), header, sizeof(header), 0), ssize_t(sizeof(header)));
  const auto first = Await(world.at(0), *zero);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_THAT(first[0].lost.message(), HasSubstr("a message of 67108865 bytes is too long"));
  FrameQueue queue;
  queue.Push(99, {});
  ASSERT_TRUE(queue.SendSome(strange.get()).ok());
  const auto second = Await(world.at(0), *zero);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].from, 2);
  EXPECT_THAT(second[0].lost.message(), HasSubstr("unknown kind 99"));
}

TEST(CourierTest, TooLongMessageIsReportedByItsSender) {
  World world(2);
  auto couriers = world.NewCouriers();
  couriers[0]->Send(1, std::vector<std::byte>(kMostMessageBytes + 1));
  const auto deliveries = Await(world.at(0), *couriers[0]);
  ASSERT_EQ(deliveries.size(), 1u);
  EXPECT_THAT(deliveries[0].lost.message(), HasSubstr("67108865 bytes is too long"));
}

TEST(CourierTest, MissingRanksAreNamedAtTheDeadline) {
  World world(topology::HostMap({"a", "a", "b", "c"}));
  std::unique_ptr<Courier> one;
  const Fd there = FrozenRank(world, 1);
  const Status status = world.NewCourier(0, 10, Deadline::After(Seconds(0.2))).status();
  EXPECT_EQ(status.message(),
            "rank 0 waited too long for a control connection with rank 2 (host b, " +
                world.addresses[2].ToString() + "), rank 3 (host c, " +
                world.addresses[3].ToString() + ")");
}

TEST(CourierTest, ParentThatIsNotThereIsNamed) {
  World world(2);
  world.at(0).acceptor.reset();
  EXPECT_THAT(world.NewCourier(1).status().message(),
              HasSubstr("rank 0 (host host0, " + world.addresses[0].ToString() + "): "));
}

TEST(CourierTest, OneRankHasNobodyToWaitFor) {
  World world(1);
  const auto alone = world.NewCourier(0);
  ASSERT_TRUE(alone.ok());
  EXPECT_FALSE(alone.value()->HasMail());
}

TEST(CourierTest, CanBeMadeAgainAfterItsEnd) {
  World world(2);
  for (int i = 0; i < 3; ++i) {
    auto couriers = world.NewCouriers();
    couriers[0]->Send(1, Text("again"));
    EXPECT_EQ(Await(world.at(1), *couriers[1]).size(), 1u);
    // Both leave at their own time; neither may find the other's leftovers next time.
    for (auto& courier : couriers) courier->ExpectGoodbyes();
    couriers[1].reset();
    couriers[0].reset();
  }
}

}  // namespace
}  // namespace horovodx::transport::tcp

#include "horovodx/transport/tcp/dial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "tests/horovodx/transport/tcp/world.h"

namespace horovodx::transport::tcp {
namespace {

using testing::HasSubstr;

const Claims kCall{Purpose::kCourier, 0, 1, 0, 0, 0};

Result<Connection> DialNow(EventLoop& loop, const Address& to, const Credentials& credentials,
                           const Deadline& deadline) {
  std::promise<Result<Connection>> promise;
  Dial::Start(loop, to, kCall, credentials, deadline,
              [&](Result<Connection> made) { promise.set_value(std::move(made)); });
  return promise.get_future().get();
}

TEST(DialTest, EndsWithASocketOrTheReason) {
  World world(2);
  EventLoop& loop = world.at(0).io->loop();
  EXPECT_TRUE(DialNow(loop, world.addresses[1], kOurs, Soon()).ok());
  EXPECT_THAT(DialNow(loop, world.addresses[1], {"wrong", "job 7"}, Soon()).status().message(),
              HasSubstr("we do not know its job's secret"));
  EXPECT_THAT(DialNow(loop, world.addresses[0], kOurs, Soon()).status().message(),
              HasSubstr("it is not rank 1"));
  world.at(1).acceptor.reset();
  EXPECT_THAT(DialNow(loop, world.addresses[1], kOurs, Soon()).status().message(),
              HasSubstr(world.addresses[1].ToString() + ": Connection refused"));
}

TEST(DialTest, SilentPeerEndsAtTheDeadline) {
  World world(1);
  const Fd listener = std::move(ListenOn({"127.0.0.1", 0})).value();
  const Address address = *LocalAddressOf(listener.get());
  EXPECT_THAT(DialNow(world.at(0).io->loop(), address, kOurs, Deadline::After(Seconds(0.1)))
                  .status()
                  .message(),
              HasSubstr(address.ToString() + ": no answer in time"));
}

TEST(DialTest, TriesAgainWhenThePeerClosesTooEarly) {
  World world(1);
  const Fd listener = std::move(ListenOn({"127.0.0.1", 0})).value();
  std::thread peer([&] {
    for (int call = 0; call < 2; ++call) {
      ASSERT_TRUE(WaitFor(listener.get(), POLLIN, Soon()));
      const Fd fd = std::move(AcceptFrom(listener.get())).value();
      if (call == 0) continue;  // closed without a word
      Handshake handshake =
          Handshake::Accept(1, MaskOf(Purpose::kCourier), kOurs, *FreshNonce(), "caller");
      EXPECT_TRUE(RunHandshake(fd.get(), handshake, Soon()).ok());
    }
  });
  EXPECT_TRUE(DialNow(world.at(0).io->loop(), *LocalAddressOf(listener.get()), kOurs, Soon()).ok());
  peer.join();
}

TEST(DialTest, CancelledDialsSayNothing) {
  World world(2);
  EventLoop& loop = world.at(0).io->loop();
  bool called = false;
  loop.Run([&] {
    const auto dial = Dial::Start(loop, world.addresses[1], kCall, kOurs, Soon(),
                                  [&](Result<Connection>) { called = true; });
    dial->CancelOnLoop();
  });
  loop.Run([&] { EXPECT_FALSE(called); });
}

}  // namespace
}  // namespace horovodx::transport::tcp

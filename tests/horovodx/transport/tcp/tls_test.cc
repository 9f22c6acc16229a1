// Connections between ranks with TLS: that it works, what it hides, and what happens to those who
// do not play by the rules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <string>
#include <thread>

#include "horovodx/transport/tcp/mesh.h"
#include "tests/horovodx/transport/link_suite.h"
#include "tests/horovodx/transport/tcp/tap.h"
#include "tests/horovodx/transport/tcp/world.h"

namespace horovodx::transport::tcp {
namespace {

using testing::HasSubstr;

// Keys change often here, so that everything below has seen it.
AcceptorOptions WithTls(double handshake_limit = 5) {
  tls::ContextOptions options;
  options.records_per_key = 50;
  AcceptorOptions door;
  door.tls = std::move(tls::Context::Make(kOurs, options)).value();
  door.handshake_limit = Seconds(handshake_limit);
  return door;
}
World SecureWorld(int ranks, double handshake_limit = 5) {
  return World(topology::HostMap::OneHost(ranks), WithTls(handshake_limit));
}

struct ThreadsByTls {
  static constexpr bool kHasStage = false;
  static void Run(int ranks, const std::function<void(transport::Mesh&)>& body) {
    World world = SecureWorld(ranks);
    std::vector<int> all;
    for (int rank = 0; rank < ranks; ++rank) all.push_back(rank);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([&, rank] {
        const auto factory = world.NewFactory(rank, 1 + ranks % 3);
        Mesh mesh(*factory, 1, all, world.hosts);
        body(mesh);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
};

// Rank 0 writes to rank 1, over `tap` if there is one.
struct Pair {
  explicit Pair(World& world, const Address* tap = nullptr) : receiver(world.NewFactory(1)) {
    const Address there = world.addresses[1];
    if (tap != nullptr) world.addresses[1] = *tap;
    sender = world.NewFactory(0, 2);
    world.addresses[1] = there;
    left = std::make_unique<Mesh>(*sender, 1, std::vector<int>{0, 1}, world.hosts);
    right = std::make_unique<Mesh>(*receiver, 1, std::vector<int>{0, 1}, world.hosts);
  }
  // What arrived, or why not.
  Result<std::string> Say(const std::string& text) {
    Status sent;
    std::thread writer([&] { sent = Write(text); });
    std::string got(text.size(), '\0');
    MutableBytes rest = MutableBytesOf(got.data(), got.size());
    Status status;
    while (status.ok() && !rest.empty()) {
      const auto bytes = right->In(0).TryRead(std::span(&rest, 1));
      status = bytes.status();
      if (!status.ok()) break;
      rest = rest.subspan(bytes.value());
      if (bytes.value() == 0) status = right->Await(&right->In(0), nullptr, Soon());
    }
    if (!status.ok()) right.reset();  // so that the writer ends, too
    writer.join();
    HVDX_RETURN_IF_ERROR(status);
    HVDX_RETURN_IF_ERROR(sent);
    return got;
  }
  Status Write(const std::string& text) const {
    ConstBytes rest = BytesOf(text.data(), text.size());
    while (!rest.empty()) {
      HVDX_ASSIGN_OR_RETURN(const std::size_t bytes, left->Out(1).TryWrite(std::span(&rest, 1)));
      rest = rest.subspan(bytes);
      if (bytes == 0) HVDX_RETURN_IF_ERROR(left->Await(nullptr, &left->Out(1), Soon()));
    }
    return Status::Ok();
  }
  std::unique_ptr<LinkFactory> sender, receiver;
  std::unique_ptr<Mesh> left, right;
};

const std::string& Gradient() {
  static const std::string text = [] {
    std::string all;
    for (int i = 0; i < 40'000; ++i) all += "a gradient, " + std::to_string(i) + "th; ";
    return all;
  }();
  return text;
}

TEST(TlsTest, AGradientIsOnTheWireOnlyWithoutTls) {
  for (const bool tls : {false, true}) {
    World world = tls ? SecureWorld(2) : World(2);
    Tap tap(world.addresses[1]);
    Pair pair(world, &tap.address());
    const Result<std::string> got = pair.Say(Gradient());
    ASSERT_TRUE(got.ok()) << got.status().message();
    EXPECT_TRUE(got.value() == Gradient());
    const std::string heard = tap.heard();
    EXPECT_GE(heard.size(), Gradient().size());
    for (const char* part : {"a gradient, 0th;", "a gradient, 31999th;", "gradient"}) {
      EXPECT_EQ(heard.find(part) != std::string::npos, !tls) << part;
    }
  }
}

TEST(TlsTest, WhoChangesABitIsNoticed) {
  World world = SecureWorld(2);
  Tap tap(world.addresses[1]);
  Pair pair(world, &tap.address());
  ASSERT_TRUE(pair.Say("good morning").ok());
  tap.Meddle();
  const Status status = pair.Say("good evening").status();
  EXPECT_THAT(status.message(), HasSubstr("tcp: rank 1 lost rank 0 ("));
  EXPECT_THAT(status.message(), HasSubstr("TLS: "));
  EXPECT_THAT(status.message(), HasSubstr("after 12 bytes"));
}

// The writer lets go of its link, and of all links, while the socket is full.
TEST(TlsTest, WhatALinkHasTakenArrivesAlsoAfterItsEnd) {
  World world = SecureWorld(2);
  Pair pair(world);
  const std::string& text = Gradient();
  std::size_t taken = 0;
  while (true) {
    const ConstBytes piece = BytesOf(text.data(), text.size());
    const auto bytes = pair.left->Out(1).TryWrite(std::span(&piece, 1));
    ASSERT_TRUE(bytes.ok());
    taken += bytes.value();
    if (bytes.value() > 0) continue;
    if (taken > 0 && !pair.left->Out(1).Writable()) break;
    if (taken == 0) {
      ASSERT_TRUE(pair.left->Await(nullptr, &pair.left->Out(1), Soon()).ok());
    }
  }
  std::thread writer([&] {
    pair.left.reset();
    pair.sender.reset();
  });
  std::size_t got = 0;
  Status end;
  std::vector<std::byte> some(100'000);
  const MutableBytes into(some);
  while (end.ok()) {
    const auto bytes = pair.right->In(0).TryRead(std::span(&into, 1));
    end = bytes.status();
    if (!end.ok()) break;
    got += bytes.value();
    if (bytes.value() == 0) end = pair.right->Await(&pair.right->In(0), nullptr, Soon());
  }
  writer.join();
  EXPECT_EQ(got, taken);
  EXPECT_THAT(end.message(), HasSubstr("connection closed"));
}

TEST(TlsTest, CouriersTalkAndNoticeAnEnd) {
  World world(topology::HostMap({"a", "a", "b"}), WithTls());
  auto couriers = world.NewCouriers();
  std::vector<std::byte> large(10'000'000, std::byte{7});
  for (int i = 0; i < 300; ++i) couriers[1]->Send(0, std::vector<std::byte>(i));
  couriers[1]->Send(0, large);
  couriers[0]->Send(1, large);
  couriers[0]->Send(2, large);
  couriers[1]->Flush(60);
  const auto at_0 = Await(world.at(0), *couriers[0], 301);
  ASSERT_EQ(at_0.size(), 301u);
  for (std::size_t i = 0; i < 300; ++i) EXPECT_EQ(at_0[i].message.size(), i);
  EXPECT_TRUE(at_0[300].message == large);
  for (const int rank : {1, 2}) {
    const auto deliveries = Await(world.at(rank), *couriers[rank]);
    ASSERT_EQ(deliveries.size(), 1u);
    EXPECT_TRUE(deliveries[0].message == large);
  }
  couriers[2].reset();
  const auto lost = Await(world.at(0), *couriers[0]);
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_THAT(lost[0].lost.message(), HasSubstr("rank 2 (host b, "));
  EXPECT_THAT(lost[0].lost.message(), HasSubstr("connection closed"));
}

// --- those who do not play by the rules

Result<Connection> DialNow(World& world, std::shared_ptr<const tls::Context> tls, const Address& to,
                           const Deadline& deadline = Soon()) {
  std::promise<Result<Connection>> promise;
  Dial::Start(
      world.at(0).io->loop(), to, {Purpose::kCourier, 0, 1, 0, 0, 0}, kOurs, deadline,
      [&](Result<Connection> made) { promise.set_value(std::move(made)); }, std::move(tls));
  return promise.get_future().get();
}

TEST(TlsTest, ItIsSetOnBothSidesOrNobodyTalks) {
  World with = SecureWorld(2), without(2);
  const auto context = WithTls().tls;
  EXPECT_TRUE(DialNow(with, context, with.addresses[1]).ok());
  EXPECT_TRUE(DialNow(without, nullptr, without.addresses[1]).ok());
  EXPECT_THAT(DialNow(with, nullptr, with.addresses[1]).status().message(),
              HasSubstr("HOROVODX_TLS=1 is set there and not here"));
  EXPECT_THAT(DialNow(without, context, without.addresses[1]).status().message(),
              HasSubstr("HOROVODX_TLS=1 is set here and not there"));
}

TEST(TlsTest, WhoKnowsTheSecretButSpeaksNoTlsIsDroppedAndDisturbsNobody) {
  World world = SecureWorld(2, 0.5);
  const Claims claims{Purpose::kLink, 0, 1, 9, 0, 1, true};
  const Fd loud = Insider(world, claims), mute = Insider(world, claims);
  ASSERT_TRUE(loud.valid() && mute.valid());
  const std::string garbage(3000, 'x');
  ASSERT_EQ(::send(loud.get(), garbage.data(), garbage.size(), MSG_NOSIGNAL), 3000);
  EXPECT_TRUE(IsDropped(loud));
  EXPECT_TRUE(IsDropped(mute)) << "after half a second";
  Pair pair(world);
  EXPECT_EQ(pair.Say("and we talk on").value(), "and we talk on");
  EXPECT_FALSE(world.at(1).acceptor->BerthOf(9, 0)->ready());
}

// Passes the handshake, says `then`, and stays until the caller has gone.
struct FalseCallee {
  explicit FalseCallee(const std::string& then) {
    listener = std::move(ListenOn({"127.0.0.1", 0})).value();
    thread = std::thread([this, then] {
      ASSERT_TRUE(WaitFor(listener.get(), POLLIN, Soon()));
      const Fd fd = std::move(AcceptFrom(listener.get())).value();
      Handshake handshake =
          Handshake::Accept(1, MaskOf(Purpose::kCourier), kOurs, *FreshNonce(), "caller", true);
      ASSERT_TRUE(RunHandshake(fd.get(), handshake, Soon()).ok());
      if (!then.empty()) {
        EXPECT_GT(::send(fd.get(), then.data(), then.size(), MSG_NOSIGNAL), 0);
      }
      EXPECT_TRUE(IsDropped(fd));
    });
  }
  ~FalseCallee() { thread.join(); }
  Address address() const { return *LocalAddressOf(listener.get()); }
  Fd listener;
  std::thread thread;
};

TEST(TlsTest, ACalleeThatSpeaksNoTlsIsAnErrorThatNamesIt) {
  World world = SecureWorld(1);
  FalseCallee loud(std::string(3000, 'x'));
  EXPECT_THAT(DialNow(world, WithTls().tls, loud.address()).status().message(),
              HasSubstr("no TLS with rank 1 (" + loud.address().ToString() + "): TLS: "));
  FalseCallee mute("");
  EXPECT_THAT(DialNow(world, WithTls().tls, mute.address(), Deadline::After(Seconds(0.3)))
                  .status()
                  .message(),
              HasSubstr("no TLS with " + mute.address().ToString() + ": no answer in time"));
}

TEST(TlsTest, ARankOfAnotherSecretIsRefusedEvenIfItCameSoFar) {
  World world = SecureWorld(2);
  const auto other = tls::Context::Make({"another secret", "job 7"}, {}).value();
  EXPECT_THAT(DialNow(world, other, world.addresses[1]).status().message(),
              HasSubstr("certificate verify failed"));
}

TEST(TlsTest, ALinkMayEndWhileItConnects) {
  for (int i = 0; i < 20; ++i) {
    World world = SecureWorld(2);
    Pair pair(world);
    const std::byte byte{};
    const ConstBytes piece(&byte, 1);
    EXPECT_TRUE(pair.left->Out(1).TryWrite(std::span(&piece, 1)).ok());
    std::this_thread::sleep_for(std::chrono::microseconds(200 * i));
    pair.left.reset();
  }
}

}  // namespace
}  // namespace horovodx::transport::tcp

namespace horovodx::transport::suite {

INSTANTIATE_TYPED_TEST_SUITE_P(ThreadsByTls, LinkSuite, tcp::ThreadsByTls);

}  // namespace horovodx::transport::suite

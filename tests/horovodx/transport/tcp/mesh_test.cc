#include "horovodx/transport/tcp/mesh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "tests/horovodx/transport/tcp/world.h"

namespace horovodx::transport::tcp {
namespace {

Status SendInt(Mesh& mesh, int to, int value) {
  ConstBytes rest = BytesOf(&value, sizeof(value));
  while (!rest.empty()) {
    HVDX_ASSIGN_OR_RETURN(const std::size_t bytes, mesh.Out(to).TryWrite(std::span(&rest, 1)));
    rest = rest.subspan(bytes);
    if (!rest.empty()) HVDX_RETURN_IF_ERROR(mesh.Await(nullptr, &mesh.Out(to), Soon()));
  }
  return Status::Ok();
}

Result<int> ReceiveInt(Mesh& mesh, int from) {
  int value = 0;
  MutableBytes rest = MutableBytesOf(&value, sizeof(value));
  while (!rest.empty()) {
    HVDX_ASSIGN_OR_RETURN(const std::size_t bytes, mesh.In(from).TryRead(std::span(&rest, 1)));
    rest = rest.subspan(bytes);
    if (!rest.empty()) HVDX_RETURN_IF_ERROR(mesh.Await(&mesh.In(from), nullptr, Soon()));
  }
  return value;
}

TEST(MeshTest, MembersAreNumberedByTheirPlaceInTheChannel) {
  World world(topology::HostMap({"a", "a", "b", "b"}));
  const auto factory = world.NewFactory(2);
  Mesh mesh(*factory, 3, {0, 2, 3}, world.hosts);
  EXPECT_EQ(mesh.rank(), 1);
  EXPECT_EQ(mesh.size(), 3);
  EXPECT_EQ(mesh.hosts().hosts(), 2);
  EXPECT_EQ(mesh.Out(2).Describe(), "rank 3 (" + world.addresses[3].ToString() + ", tcp)");
  EXPECT_EQ(mesh.stage(), nullptr);
}

TEST(MeshTest, ChannelsBetweenTheSameRanksNeverMix) {
  World world(3);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 3; ++rank) {
    ranks.emplace_back([&, rank] {
      const auto factory = world.NewFactory(rank);
      std::vector<std::unique_ptr<Mesh>> meshes;
      for (std::uint32_t channel = 0; channel < 4; ++channel) {
        meshes.push_back(
            std::make_unique<Mesh>(*factory, channel, std::vector<int>{0, 1, 2}, world.hosts));
      }
      // Every rank uses the channels in another order.
      for (int i = 0; i < 4; ++i) {
        const int channel = (i + rank) % 4;
        for (int peer = 0; peer < 3; ++peer) {
          if (peer == rank) continue;
          ASSERT_TRUE(SendInt(*meshes[channel], peer, channel * 100 + rank * 10 + peer).ok());
        }
      }
      for (int channel = 3; channel >= 0; --channel) {
        for (int peer = 0; peer < 3; ++peer) {
          if (peer == rank) continue;
          const Result<int> value = ReceiveInt(*meshes[channel], peer);
          ASSERT_TRUE(value.ok()) << value.status().message();
          EXPECT_EQ(value.value(), channel * 100 + peer * 10 + rank);
        }
      }
    });
  }
  for (std::thread& rank : ranks) rank.join();
}

// A link of another transport: no descriptor, its peer rings the bell.
struct BellLink : InLink {
  Result<std::size_t> TryRead(std::span<const MutableBytes>) override { return std::size_t{0}; }
  bool Readable() override { return ready.load(); }
  std::string Describe() const override { return "rank 9 (bell)"; }
  std::atomic<bool> ready{false};
};

TEST(MeshTest, WaitsMixSocketsAndBells) {
  World world(2);
  const auto zero = world.NewFactory(0), one = world.NewFactory(1);
  Mesh left(*zero, 1, {0, 1}, world.hosts), right(*one, 1, {0, 1}, world.hosts);
  ASSERT_TRUE(SendInt(left, 1, 1).ok());
  ASSERT_EQ(*ReceiveInt(right, 0), 1);

  // Fill the way out, so that only the reader can make it writable again.
  std::vector<std::byte> block(1 << 20);
  const ConstBytes piece[] = {ConstBytes(block)};
  std::uint64_t sent = 0;
  while (true) {
    const auto bytes = left.Out(1).TryWrite(piece);
    ASSERT_TRUE(bytes.ok());
    sent += bytes.value();
    if (bytes.value() == 0 && !left.Out(1).Writable()) break;
  }
  BellLink bell_link;
  std::thread reader([&] {
    std::vector<std::byte> got(1 << 20);
    const MutableBytes into[] = {MutableBytes(got)};
    for (std::uint64_t read = 0; read < sent;) {
      const auto bytes = right.In(0).TryRead(into);
      ASSERT_TRUE(bytes.ok());
      read += bytes.value();
      if (bytes.value() > 0) continue;
      ASSERT_TRUE(right.Await(&right.In(0), nullptr, Soon()).ok());
    }
  });
  EXPECT_TRUE(left.Await(&bell_link, &left.Out(1), Soon()).ok()) << "the socket ends the wait";
  EXPECT_TRUE(left.Out(1).Writable());
  reader.join();

  std::thread ringer([&] {
    bell_link.ready = true;
    world.at(0).bell.OfLinks().Ring();
  });
  EXPECT_TRUE(left.Await(&bell_link, nullptr, Soon()).ok()) << "the bell ends the wait";
  ringer.join();

  // Any of several, with nothing in some places: a socket, then a bell.
  BellLink never;
  InLink* const ins[] = {&never, nullptr, &bell_link};
  OutLink* const outs[] = {nullptr, &left.Out(1)};
  EXPECT_TRUE(left.AwaitAny(std::span(ins, 2), outs, Soon()).ok());
  EXPECT_TRUE(left.AwaitAny(ins, {}, Soon()).ok());
  InLink* const sockets[] = {&left.In(1), nullptr};
  EXPECT_THAT(left.AwaitAny(sockets, {}, Deadline::After(Seconds(0.02))).message(),
              testing::HasSubstr("for data from rank 1"));
  EXPECT_THAT(left.AwaitAny(std::span(ins, 2), std::span(outs, 1), Deadline::After(Seconds(0.02)))
                  .message(),
              testing::HasSubstr("rank 9 (bell)"));

  EXPECT_THAT(left.Await(&never, nullptr, Deadline::After(Seconds(0.02))).message(),
              testing::HasSubstr("rank 9 (bell)"));
}

TEST(MeshTest, DataThatComesWithOrAfterTheSocketsWakesAMixedWait) {
  for (int turn = 0; turn < 30; ++turn) {
    World world(2);
    const auto zero = world.NewFactory(0), one = world.NewFactory(1);
    Mesh left(*zero, 1, {0, 1}, world.hosts), right(*one, 1, {0, 1}, world.hosts);
    std::thread sender([&] { EXPECT_TRUE(SendInt(left, 1, turn).ok()); });
    EXPECT_EQ(*ReceiveInt(right, 0), turn);
    sender.join();
  }
}

TEST(MeshTest, AnInterruptEndsAWait) {
  World world(2);
  const auto factory = world.NewFactory(0);
  Mesh mesh(*factory, 1, {0, 1}, world.hosts);
  std::thread other([&] { mesh.interrupt().Raise(Status::Unknown("rank 7 is gone")); });
  EXPECT_EQ(mesh.Await(&mesh.In(1), nullptr, Soon()).message(), "rank 7 is gone");
  other.join();
}

TEST(MeshTest, StrangersDisturbNeitherCouriersNorLinks) {
  AcceptorOptions door;
  door.handshake_limit = Seconds(0.3);
  World world(topology::HostMap::OneHost(2), door);
  auto couriers = world.NewCouriers();
  const auto zero = world.NewFactory(0), one = world.NewFactory(1);
  Mesh left(*zero, 1, {0, 1}, world.hosts), right(*one, 1, {0, 1}, world.hosts);

  std::vector<Fd> silent, noisy;
  for (int i = 0; i < 300; ++i) {  // more than the door holds
    silent.push_back(std::move(ConnectTo(world.addresses[i % 2], Soon())).value());
  }
  const std::string noise(5000, '\x7f');
  for (int i = 0; i < 20; ++i) {
    noisy.push_back(std::move(ConnectTo(world.addresses[i % 2], Soon())).value());
    ASSERT_GT(::send(noisy.back().get(), noise.data(), noise.size(), MSG_NOSIGNAL), 0);
  }
  // One that knows the job but not the secret.
  Fd uninvited = std::move(ConnectTo(world.addresses[1], Soon())).value();
  Handshake handshake = Handshake::Connect({Purpose::kLink, 0, 1, 1, 0, 2}, {"wrong", kOurs.job_id},
                                           *FreshNonce(), "rank 1");
  EXPECT_FALSE(RunHandshake(uninvited.get(), handshake, Soon()).ok());

  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(SendInt(left, 1, i).ok());
    EXPECT_EQ(*ReceiveInt(right, 0), i);
    couriers[1]->Send(0, std::vector<std::byte>(i));
  }
  const auto deliveries = Await(world.at(0), *couriers[0], 50);
  EXPECT_EQ(deliveries.size(), 50u);
  for (const Delivery& delivery : deliveries) EXPECT_TRUE(delivery.lost.ok());
  for (const Fd& fd : noisy) EXPECT_TRUE(IsDropped(fd));
  for (const Fd& fd : silent) EXPECT_TRUE(IsDropped(fd));
  EXPECT_TRUE(IsDropped(uninvited));
}

}  // namespace
}  // namespace horovodx::transport::tcp

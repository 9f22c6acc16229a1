#include "horovodx/transport/tcp/link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <thread>

#include "horovodx/transport/tcp/mesh.h"
#include "horovodx/transport/tcp/stripes.h"
#include "tests/horovodx/transport/tcp/world.h"

namespace horovodx::transport::tcp {
namespace {

using testing::HasSubstr;

// Two ranks with a mesh each.
struct Duo {
  explicit Duo(int streams = 2, double limit = 60)
      : world(2), sender(world.NewFactory(0, streams, limit)), receiver(world.NewFactory(1)) {
    left = std::make_unique<Mesh>(*sender, 1, std::vector<int>{0, 1}, world.hosts);
    right = std::make_unique<Mesh>(*receiver, 1, std::vector<int>{0, 1}, world.hosts);
  }
  OutLink& out() { return left->Out(1); }
  InLink& in() { return right->In(0); }

  World world;
  std::unique_ptr<LinkFactory> sender, receiver;
  std::unique_ptr<Mesh> left, right;
};

std::vector<std::byte> Noise(std::size_t size, unsigned seed) {
  std::vector<std::byte> bytes(size);
  std::uint32_t x = seed * 2654435761u + 1;
  for (std::byte& byte : bytes) {
    x = x * 1664525u + 1013904223u;
    byte = static_cast<std::byte>(x >> 24);
  }
  return bytes;
}

// Cuts memory into random pieces, some of them empty, some tiny, some large.
template <typename Piece>
std::vector<Piece> Cut(Piece memory, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Piece> pieces;
  while (!memory.empty()) {
    const std::size_t limit = random() % 4 == 0 ? 700'000 : 3'000;
    const std::size_t size = std::min<std::size_t>(random() % limit, memory.size());
    pieces.push_back(memory.first(size));
    memory = memory.subspan(size);
  }
  return pieces;
}

// Drops what a step took from the front of the list.
template <typename Piece>
void Drop(std::vector<Piece>& pieces, std::size_t bytes) {
  std::size_t whole = 0;
  while (whole < pieces.size() && bytes >= pieces[whole].size()) bytes -= pieces[whole++].size();
  pieces.erase(pieces.begin(), pieces.begin() + whole);
  if (bytes > 0) pieces.front() = pieces.front().subspan(bytes);
}

Status SendAll(Mesh& mesh, OutLink& out, std::vector<ConstBytes> pieces) {
  while (!pieces.empty()) {
    HVDX_ASSIGN_OR_RETURN(const std::size_t bytes, out.TryWrite(pieces));
    Drop(pieces, bytes);
    if (!pieces.empty() && bytes == 0) HVDX_RETURN_IF_ERROR(mesh.Await(nullptr, &out, Soon()));
  }
  return Status::Ok();
}

Status ReceiveAll(Mesh& mesh, InLink& in, std::vector<MutableBytes> pieces) {
  while (!pieces.empty()) {
    HVDX_ASSIGN_OR_RETURN(const std::size_t bytes, in.TryRead(pieces));
    Drop(pieces, bytes);
    if (!pieces.empty() && bytes == 0) HVDX_RETURN_IF_ERROR(mesh.Await(&in, nullptr, Soon()));
  }
  return Status::Ok();
}

class LinkStreamsTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(All, LinkStreamsTest, testing::Values(1, 2, 3));

TEST_P(LinkStreamsTest, EveryByteArrivesInOrderHoweverItIsCut) {
  Duo duo(GetParam());
  const std::size_t sizes[] = {0, 1, 7, kStripeBytes - 1, 2, kStripeBytes, 0, 20'000'000, 1};
  std::thread sender([&] {
    unsigned seed = 0;
    for (const std::size_t size : sizes) {
      const auto data = Noise(size, ++seed);
      const Status sent = SendAll(*duo.left, duo.out(), Cut(ConstBytes(data), seed + 100));
      ASSERT_TRUE(sent.ok()) << sent.message();
    }
  });
  unsigned seed = 0;
  for (const std::size_t size : sizes) {
    std::vector<std::byte> data(size);
    const Status got = ReceiveAll(*duo.right, duo.in(), Cut(MutableBytes(data), seed + 200));
    ASSERT_TRUE(got.ok()) << got.message();
    ASSERT_TRUE(data == Noise(size, ++seed)) << size << " bytes";
  }
  sender.join();
}

TEST_P(LinkStreamsTest, TheWriterUsesAsManySocketsAsItLikesAndTheReaderFollows) {
  Duo duo(GetParam());
  constexpr std::size_t kPieces = 60;
  const auto size_of = [](unsigned piece) { return std::size_t{piece * 7919} % 1'000'000; };
  std::thread sender([&] {
    std::mt19937 random(5);
    for (unsigned piece = 0; piece < kPieces; ++piece) {
      duo.left->UseStreams(static_cast<int>(random() % 6));  // 0 and too many: all
      const auto data = Noise(size_of(piece), piece);
      const Status sent = SendAll(*duo.left, duo.out(), {ConstBytes(data)});
      ASSERT_TRUE(sent.ok()) << sent.message();
    }
  });
  for (unsigned piece = 0; piece < kPieces; ++piece) {
    std::vector<std::byte> data(size_of(piece));
    const Status got = ReceiveAll(*duo.right, duo.in(), {MutableBytes(data)});
    ASSERT_TRUE(got.ok()) << got.message();
    ASSERT_TRUE(data == Noise(data.size(), piece)) << piece;
  }
  sender.join();
}

TEST_P(LinkStreamsTest, BothDirectionsAtOnceDoNotBlockEachOther) {
  Duo duo(GetParam());
  const auto talk = [](Mesh& mesh, int peer, unsigned mine, unsigned theirs) {
    const auto data = Noise(8'000'000, mine);
    std::vector<std::byte> got(8'000'000);
    std::vector<ConstBytes> out = {ConstBytes(data)};
    std::vector<MutableBytes> in = {MutableBytes(got)};
    while (!out.empty() || !in.empty()) {
      std::size_t moved = 0;
      if (!out.empty()) {
        const auto sent = mesh.Out(peer).TryWrite(out);
        ASSERT_TRUE(sent.ok()) << sent.status().message();
        Drop(out, sent.value());
        moved += sent.value();
      }
      if (!in.empty()) {
        const auto read = mesh.In(peer).TryRead(in);
        ASSERT_TRUE(read.ok()) << read.status().message();
        Drop(in, read.value());
        moved += read.value();
      }
      if (moved > 0) continue;
      const Status waited = mesh.Await(in.empty() ? nullptr : &mesh.In(peer),
                                       out.empty() ? nullptr : &mesh.Out(peer), Soon());
      ASSERT_TRUE(waited.ok()) << waited.message();
    }
    EXPECT_TRUE(got == Noise(8'000'000, theirs));
  };
  std::thread other([&] { talk(*duo.right, 0, 2, 1); });
  talk(*duo.left, 1, 1, 2);
  other.join();
}

TEST(LinkTest, UnusedLinkIsNeitherReadableNorConnected) {
  Duo duo;
  EXPECT_FALSE(duo.in().Readable());
  EXPECT_EQ(duo.in().fd(), -1);
  EXPECT_EQ(duo.out().fd(), -1);
  std::byte byte{};
  const MutableBytes piece[] = {MutableBytes(&byte, 1)};
  EXPECT_EQ(*duo.in().TryRead(piece), 0u);
  EXPECT_THAT(duo.left->Await(&duo.left->In(1), nullptr, Deadline::After(Seconds(0.02))).message(),
              HasSubstr("for data from rank 1 (" + duo.world.addresses[1].ToString() + ", tcp)"));
}

TEST(LinkTest, EmptyWritesAndReadsAreNoEnd) {
  Duo duo;
  const std::byte byte{42};
  ASSERT_TRUE(SendAll(*duo.left, duo.out(), {ConstBytes(&byte, 1)}).ok());
  std::byte got{};
  ASSERT_TRUE(ReceiveAll(*duo.right, duo.in(), {MutableBytes(&got, 1)}).ok());
  const ConstBytes nothing[] = {ConstBytes(), ConstBytes()};
  const MutableBytes nowhere[] = {MutableBytes(), MutableBytes()};
  EXPECT_EQ(*duo.out().TryWrite(nothing), 0u);
  EXPECT_EQ(*duo.in().TryRead(nowhere), 0u);
  EXPECT_EQ(*duo.out().TryWrite({}), 0u);
  EXPECT_EQ(*duo.in().TryRead({}), 0u);
  EXPECT_EQ(got, byte);
}

TEST(LinkTest, TheEndOfAPeerIsAnErrorThatNamesItAndHowFarItCame) {
  Duo duo;
  const auto data = Noise(1000, 1);
  ASSERT_TRUE(SendAll(*duo.left, duo.out(), {ConstBytes(data)}).ok());
  std::vector<std::byte> got(2000);
  ASSERT_TRUE(ReceiveAll(*duo.right, duo.in(), {MutableBytes(got).first(1000)}).ok());
  duo.left.reset();
  const std::string expected = "tcp: rank 1 lost rank 0 (" + duo.world.addresses[0].ToString() +
                               ", tcp): connection closed after 1000 bytes";
  EXPECT_EQ(ReceiveAll(*duo.right, duo.in(), {MutableBytes(got)}).message(), expected);
  EXPECT_TRUE(duo.in().Readable()) << "an error is something to read";
  const MutableBytes piece[] = {MutableBytes(got)};
  EXPECT_EQ(duo.in().TryRead(piece).status().message(), expected) << "it stays";
}

TEST(LinkTest, OnlyTheSocketsInUseAreWrittenTo) {
  Duo duo(4);
  EXPECT_EQ(duo.left->streams(), 4);
  std::set<int> used;
  const std::vector<std::byte> block(kStripeBytes);
  std::vector<std::byte> got(kStripeBytes);
  const auto move = [&](int blocks) {
    used.clear();
    for (int i = 0; i < blocks; ++i) {
      ASSERT_TRUE(SendAll(*duo.left, duo.out(), {ConstBytes(block).first(1000)}).ok());
      used.insert(duo.out().fd());
      std::thread rest([&] {
        ASSERT_TRUE(SendAll(*duo.left, duo.out(), {ConstBytes(block).subspan(1000)}).ok());
      });
      ASSERT_TRUE(ReceiveAll(*duo.right, duo.in(), {MutableBytes(got)}).ok());
      rest.join();
    }
  };
  duo.left->UseStreams(1);
  move(5);
  EXPECT_EQ(used.size(), 1u);
  duo.left->UseStreams(3);
  move(7);
  EXPECT_EQ(used.size(), 3u);
  duo.left->UseStreams(0);
  move(9);
  EXPECT_EQ(used.size(), 4u);
}

TEST(LinkTest, ALabelThatNamesNoSocketIsAnErrorThatNamesThePeer) {
  Duo duo;
  std::vector<Fd> sockets;
  for (std::uint16_t stream = 0; stream < 2; ++stream) {
    sockets.push_back(Insider(duo.world, {Purpose::kLink, 0, 1, 1, stream, 2}));
    ASSERT_TRUE(sockets.back().valid());
  }
  const char nonsense[] = {2, 'x'};
  ASSERT_EQ(::send(sockets[0].get(), nonsense, 2, MSG_NOSIGNAL), 2);
  std::byte got{};
  EXPECT_THAT(ReceiveAll(*duo.right, duo.in(), {MutableBytes(&got, 1)}).message(),
              testing::AllOf(HasSubstr("rank 1 lost rank 0"), HasSubstr("named socket 2 of 2")));
}

TEST(LinkTest, AWriterNoticesThatItsReaderIsGone) {
  Duo duo;
  const auto data = Noise(100'000, 1);
  ASSERT_TRUE(SendAll(*duo.left, duo.out(), {ConstBytes(data)}).ok());
  Bell::Listener listener(duo.world.at(1).bell.OfLinks());
  while (!duo.in().Readable()) ASSERT_TRUE(listener.Sleep(Soon()));
  duo.right.reset();
  Status status;
  while (status.ok()) status = SendAll(*duo.left, duo.out(), {ConstBytes(data)});
  EXPECT_THAT(status.message(), HasSubstr("tcp: rank 0 lost rank 1 ("));
  EXPECT_THAT(status.message(), HasSubstr(" bytes"));
}

TEST(LinkTest, APeerThatCannotBeReachedIsAnError) {
  Duo duo;
  duo.right.reset();
  duo.world.at(1).acceptor.reset();
  const std::byte byte{};
  const Status status = SendAll(*duo.left, duo.out(), {ConstBytes(&byte, 1)});
  EXPECT_THAT(status.message(), HasSubstr("rank 1 (" + duo.world.addresses[1].ToString()));
  EXPECT_THAT(status.message(), HasSubstr("Connection refused"));
  EXPECT_TRUE(duo.out().Writable()) << "an error is something to be told";
}

TEST(LinkTest, ConnectingEndsAtItsLimit) {
  Duo duo(2, 0.1);
  // Its door is open, but nobody answers.
  duo.right.reset();
  duo.world.at(1).acceptor.reset();
  const Fd mute = std::move(ListenOn(duo.world.addresses[1])).value();
  const std::byte byte{};
  const Status status = SendAll(*duo.left, duo.out(), {ConstBytes(&byte, 1)});
  EXPECT_THAT(status.message(), HasSubstr("no answer in time"));
}

TEST(LinkTest, ALinkMayEndWhileItConnects) {
  for (int i = 0; i < 20; ++i) {
    Duo duo;
    const std::byte byte{};
    const ConstBytes piece[] = {ConstBytes(&byte, 1)};
    EXPECT_TRUE(duo.out().TryWrite(piece).ok());
    duo.left.reset();
  }
}

}  // namespace
}  // namespace horovodx::transport::tcp

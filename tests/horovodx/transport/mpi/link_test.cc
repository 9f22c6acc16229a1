// The suite of every transport, over MPI: mpirun starts four of this program, all run all tests.
#include "horovodx/transport/mpi/link.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "horovodx/base/fd.h"
#include "horovodx/base/socket.h"
#include "horovodx/transport/mesh.h"
#include "tests/horovodx/transport/link_suite.h"

namespace horovodx::transport::mpi {
namespace {

using horovodx::mpi::LibraryOptions;
using horovodx::mpi::Threads;

Library& TheLibrary() {
  static Library* const library = [] {
    LibraryOptions options;
    options.plugin = HVDX_MPI_PLUGIN;
    auto loaded = Library::Load(options);
    EXPECT_TRUE(loaded.ok()) << loaded.status().ToString();
    auto level = loaded.value()->Start(Threads::kMultiple, Deadline::After(Seconds(60)));
    EXPECT_TRUE(level.ok() && level.value() == Threads::kMultiple);
    return loaded.value();
  }();
  return *library;
}

int WorldRank() {
  int rank = -1;
  EXPECT_EQ(TheLibrary().call().rank(TheLibrary().call().world(), &rank), 0);
  return rank;
}

int WorldSize() {
  int size = -1;
  EXPECT_EQ(TheLibrary().call().size(TheLibrary().call().world(), &size), 0);
  return size;
}

// All ranks; a communicator for one test, so that nothing of another reaches it.
struct Crew {
  Crew() {
    EXPECT_EQ(TheLibrary().call().duplicate(TheLibrary().call().world(), &comm), 0);
    post = std::make_unique<Post>(TheLibrary(), comm, WorldRank(), Bell(&word));
  }
  // Everybody is done, then nobody has anything left. Whoever waits leaves the cores to the others.
  ~Crew() {
    post = nullptr;
    const auto& call = TheLibrary().call();
    for (int from = 1; from < WorldSize(); ++from) {
      if (WorldRank() == 0) Finish(0, from, &call.receive);
      if (WorldRank() == from) Finish(0, 0, &call.send);
    }
    for (int to = 1; to < WorldSize(); ++to) {
      if (WorldRank() == 0) Finish(1, to, &call.send);
      if (WorldRank() == to) Finish(1, 0, &call.receive);
    }
    EXPECT_EQ(call.release(&comm), 0);
  }
  template <typename Call>
  void Finish(int tag, int peer, Call* call) {
    char nothing = 0;
    Request request = nullptr;
    EXPECT_EQ((*call)(&nothing, 1, peer, tag, comm, &request), 0);
    bool done = false;
    while (TheLibrary().call().test(&request, &done, nullptr) == 0 && !done) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  BellWord word;
  Comm comm = nullptr;
  std::unique_ptr<Post> post;
};

class MpiMesh : public Mesh {
 public:
  MpiMesh(Post& post, Bell bell, int rank, int size)
      : Mesh(rank, topology::HostMap(std::vector<std::string>(size, "here")), bell, nullptr),
        post_(post),
        out_(size),
        in_(size) {}
  OutLink& Out(int member) override {
    if (!out_[member]) out_[member] = std::make_unique<MpiOutLink>(post_, member, 1, Name(member));
    return *out_[member];
  }
  InLink& In(int member) override {
    if (!in_[member]) in_[member] = std::make_unique<MpiInLink>(post_, member, 1, Name(member));
    return *in_[member];
  }

 private:
  static std::string Name(int member) { return "rank " + std::to_string(member) + " (here, mpi)"; }
  Post& post_;
  std::vector<std::unique_ptr<OutLink>> out_;
  std::vector<std::unique_ptr<InLink>> in_;
};

struct MpiGround {
  static constexpr bool kHasStage = false;
  static void Run(int ranks, const std::function<void(Mesh&)>& body) {
    ASSERT_GE(WorldSize(), ranks);
    Crew crew;
    if (WorldRank() >= ranks) return;
    MpiMesh mesh(*crew.post, Bell(&crew.word), WorldRank(), ranks);
    body(mesh);
  }
};

}  // namespace
}  // namespace horovodx::transport::mpi

namespace horovodx::transport::suite {
INSTANTIATE_TYPED_TEST_SUITE_P(Mpi, LinkSuite, mpi::MpiGround);
}  // namespace horovodx::transport::suite

namespace horovodx::transport::mpi {
namespace {

// A link that is closed with blocks nobody has taken, or receives nobody has sent to.
TEST(MpiLinkTest, LinksEndWithBlocksUnderWay) {
  Crew crew;
  const int peer = WorldRank() ^ 1;
  const std::vector<std::byte> bytes(2 * kBlockBytes + 1);
  {
    MpiOutLink out(*crew.post, peer, 5, "rank");
    MpiInLink in(*crew.post, peer, 6, "rank");
    const ConstBytes piece(bytes);
    EXPECT_EQ(out.TryWrite(std::span(&piece, 1)).value(), bytes.size());
    EXPECT_FALSE(in.Readable());
  }
  // The next stream between the two is not disturbed.
  MpiOutLink out(*crew.post, peer, 7, "rank");
  MpiInLink in(*crew.post, peer, 7, "rank");
  const std::byte mark{42};
  const ConstBytes piece(&mark, 1);
  EXPECT_EQ(out.TryWrite(std::span(&piece, 1)).value(), 1U);
  std::byte heard{};
  const MutableBytes room(&heard, 1);
  const Deadline deadline = Deadline::After(Seconds(60));
  while (in.TryRead(std::span(&room, 1)).value() == 0 && !deadline.Passed()) {
  }
  EXPECT_EQ(heard, mark);
}

// A word between ranks of this machine that MPI knows nothing of.
class SideDoor {
 public:
  SideDoor() : fd_(::socket(AF_UNIX, SOCK_DGRAM, 0)) {
    const auto [mine, size] = AddressOf(WorldRank());
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&mine), size), 0);
  }
  void Knock(int peer) {
    const auto [theirs, size] = AddressOf(peer);
    EXPECT_EQ(::sendto(fd_.get(), "", 1, 0, reinterpret_cast<const sockaddr*>(&theirs), size), 1);
  }
  bool Opened(const Deadline& deadline) {
    char word = 0;
    return WaitFor(fd_.get(), POLLIN, deadline) && ::recv(fd_.get(), &word, 1, 0) == 1;
  }

 private:
  // In no directory; mpirun is the parent of all.
  static std::pair<sockaddr_un, socklen_t> AddressOf(int rank) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name =
        "hvdx-mpi-test-" + std::to_string(::getppid()) + "-" + std::to_string(rank);
    std::copy(name.begin(), name.end(), address.sun_path + 1);
    return {address, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())};
  }
  Fd fd_;
};

// MPI calls a message sent when a last word about it may still wait in MPI for somebody to call it;
// where sockets take little at a time (transport_mpi_narrow) that is often so.
TEST(MpiLinkTest, WhatWasSentArrivesThoughTheSenderDoesNotLookAgain) {
  constexpr int kRounds = 100;
  SideDoor door;
  Crew crew;
  std::vector<std::unique_ptr<MpiOutLink>> outs;
  for (int to = 1; WorldRank() == 0 && to < WorldSize(); ++to) {
    outs.push_back(std::make_unique<MpiOutLink>(*crew.post, to, 9, "rank"));
  }
  MpiInLink in(*crew.post, 0, 9, "rank");
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::byte> bytes(67'000 + 100 * static_cast<std::size_t>(round));
    const Deadline deadline = Deadline::After(Seconds(20));
    const ConstBytes piece(bytes);
    for (const auto& out : outs) {
      ASSERT_EQ(out->TryWrite(std::span(&piece, 1)).value(), bytes.size());
    }
    for (const auto& out : outs) {
      ASSERT_TRUE(door.Opened(deadline)) << bytes.size() << " bytes: " << out->Describe();
    }
    if (WorldRank() == 0) continue;
    std::size_t read = 0;
    while (read < bytes.size()) {
      const MutableBytes room = MutableBytes(bytes).subspan(read);
      read += in.TryRead(std::span(&room, 1)).value();
      ASSERT_FALSE(deadline.Passed()) << read << " of " << bytes.size();
      if (read < bytes.size()) std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    door.Knock(0);
  }
}

TEST(MpiLinkTest, NothingMovesAndNothingIsWritableBeyondFourBlocks) {
  Crew crew;
  const int peer = WorldRank() ^ 1;
  const std::vector<std::byte> bytes((kBlocks + 1) * kBlockBytes);
  MpiOutLink out(*crew.post, peer, 8, "rank");
  const ConstBytes piece(bytes);
  EXPECT_TRUE(out.Writable());
  EXPECT_EQ(out.TryWrite({}).value(), 0U);
  EXPECT_EQ(out.TryWrite(std::span(&piece, 1)).value(), kBlocks * kBlockBytes);
  EXPECT_FALSE(out.Writable());
  EXPECT_EQ(out.TryWrite(std::span(&piece, 1)).value(), 0U);
}

}  // namespace
}  // namespace horovodx::transport::mpi

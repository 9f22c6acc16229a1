// The suite of every transport, over MPI: mpirun starts four of this program, all run all tests.
#include "horovodx/transport/mpi/link.h"

#include <memory>
#include <vector>

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

// What Mesh::Await does when a link has a descriptor, when it has a bell, and when it waits for one
// of each.
#include "horovodx/transport/mesh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>
#include <thread>

#include "horovodx/transport/ring_link.h"

namespace horovodx::transport {
namespace {

using testing::HasSubstr;

struct SocketPair {
  SocketPair() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0); }
  ~SocketPair() {
    for (int end : ends) ::close(end);
  }
  int ends[2];
};

// A link over a socket pair: the smallest thing with a descriptor.
class PairInLink : public InLink {
 public:
  explicit PairInLink(int fd) : fd_(fd) {}
  Result<std::size_t> TryRead(std::span<const MutableBytes>) override { return std::size_t{0}; }
  bool Readable() override {
    pollfd wait{fd_, POLLIN, 0};
    return ::poll(&wait, 1, 0) == 1;
  }
  int fd() override { return fd_; }
  std::string Describe() const override { return "rank 1 (pair)"; }

 private:
  int fd_;
};

// Watches one descriptor on a thread of its own.
class ThreadWatcher : public Watcher {
 public:
  explicit ThreadWatcher(Bell bell) : bell_(bell) {}
  ~ThreadWatcher() override {
    for (auto& thread : threads_) thread.join();
  }
  void RingWhenReady(int fd, bool for_write) override {
    threads_.emplace_back([this, fd, for_write] {
      pollfd wait{fd, static_cast<short>(for_write ? POLLOUT : POLLIN), 0};
      ::poll(&wait, 1, 30'000);
      bell_.OfLinks().Ring();
    });
  }

 private:
  Bell bell_;
  std::vector<std::thread> threads_;
};

class OneMesh : public Mesh {
 public:
  OneMesh(Bell bell, Watcher* watcher) : Mesh(0, topology::HostMap::OneHost(2), bell, watcher) {}
  OutLink& Out(int) override { return *out; }
  InLink& In(int) override { return *in; }
  std::optional<RingOutLink> out;
  std::optional<RingInLink> in;
};

class MeshTest : public testing::Test {
 protected:
  MeshTest() { full_.Write({&eight_, 1}); }
  void WriteToSocket() { EXPECT_EQ(::send(pair_.ends[1], "x", 1, 0), 1); }

  BellWord word_;
  Bell bell_{&word_};
  SocketPair pair_;
  ByteRing::Counters empty_counters_, full_counters_;
  std::byte memory_[16];
  ConstBytes eight_ = BytesOf("01234567", 8);
  ByteRing empty_{&empty_counters_, memory_, 8};
  ByteRing full_{&full_counters_, memory_ + 8, 8};
  RingInLink silent_{empty_, bell_, "rank 1 (ring)"};
  RingOutLink clogged_{full_, bell_, "rank 2 (ring)"};
  PairInLink socket_{pair_.ends[0]};
};

TEST_F(MeshTest, WaitOnADescriptorEndsWhenDataComes) {
  OneMesh mesh(bell_, nullptr);
  std::thread peer([&] { WriteToSocket(); });
  EXPECT_TRUE(mesh.Await(&socket_, nullptr, Deadline::After(Seconds(30))).ok());
  EXPECT_TRUE(socket_.Readable());
  peer.join();
}

TEST_F(MeshTest, WaitOnADescriptorEndsByInterrupt) {
  OneMesh mesh(bell_, nullptr);
  std::thread engine([&] { mesh.interrupt().Raise(Status::Unknown("rank 1 died")); });
  EXPECT_EQ(mesh.Await(&socket_, nullptr, Deadline::Never()).message(), "rank 1 died");
  engine.join();
}

TEST_F(MeshTest, WaitOnRingsEndsByInterrupt) {
  OneMesh mesh(bell_, nullptr);
  std::thread engine([&] { mesh.interrupt().Raise(Status::Unknown("rank 1 died")); });
  EXPECT_EQ(mesh.Await(&silent_, &clogged_, Deadline::Never()).message(), "rank 1 died");
  engine.join();
}

TEST_F(MeshTest, MixedWaitEndsWhenTheDescriptorIsReady) {
  ThreadWatcher watcher(bell_);
  OneMesh mesh(bell_, &watcher);
  std::thread peer([&] { WriteToSocket(); });
  EXPECT_TRUE(mesh.Await(&socket_, &clogged_, Deadline::After(Seconds(30))).ok());
  EXPECT_TRUE(socket_.Readable());
  peer.join();
}

TEST_F(MeshTest, MixedWaitEndsWhenTheRingIsReady) {
  ThreadWatcher watcher(bell_);
  OneMesh mesh(bell_, &watcher);
  std::thread peer([&] {
    std::byte read[8];
    const MutableBytes piece{read, 8};
    ByteRing reader = full_;
    reader.Read({&piece, 1});
    bell_.OfLinks().Ring();
  });
  EXPECT_TRUE(mesh.Await(&socket_, &clogged_, Deadline::After(Seconds(30))).ok());
  peer.join();
  EXPECT_TRUE(clogged_.Writable());
  WriteToSocket();  // lets the watcher's thread end
}

// Awake for good, it sees the same; awake for a moment, it falls asleep and is woken.
TEST_F(MeshTest, WaitAwakeEndsForTheSameReasons) {
  for (const Duration awake : {Duration(Seconds(60)), Duration(std::chrono::microseconds(1))}) {
    SocketPair pair;
    PairInLink socket(pair.ends[0]);
    OneMesh mesh(bell_, nullptr);
    mesh.StayAwake(awake);
    EXPECT_THAT(mesh.Await(&silent_, nullptr, Deadline::After(Seconds(0.01))).message(),
                HasSubstr("for data from rank 1 (ring)"));
    std::thread peer([&] { EXPECT_EQ(::send(pair.ends[1], "x", 1, 0), 1); });
    EXPECT_TRUE(mesh.Await(&socket, nullptr, Deadline::After(Seconds(30))).ok());
    EXPECT_TRUE(socket.Readable());
    peer.join();
    std::thread engine([&] { mesh.interrupt().Raise(Status::Unknown("rank 1 died")); });
    EXPECT_EQ(mesh.Await(&silent_, &clogged_, Deadline::Never()).message(), "rank 1 died");
    engine.join();
  }
}

TEST_F(MeshTest, DeadlineNamesEveryoneWaitedFor) {
  OneMesh mesh(bell_, nullptr);
  const Status both = mesh.Await(&silent_, &clogged_, Deadline::After(Seconds(0.01)));
  EXPECT_THAT(both.message(),
              HasSubstr("for data from rank 1 (ring) and to send to rank 2 (ring)"));
  const Status socket = mesh.Await(&socket_, nullptr, Deadline::After(Seconds(0.01)));
  EXPECT_THAT(socket.message(), HasSubstr("for data from rank 1 (pair)"));
}

}  // namespace
}  // namespace horovodx::transport

#include "horovodx/transport/tcp/io_loop.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

namespace horovodx::transport::tcp {
namespace {

struct Fixture {
  Fixture() {
    int fds[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    left = Fd(fds[0]);
    right = Fd(fds[1]);
  }
  BellWord word;
  Bell bell{&word};
  std::unique_ptr<IoLoop> io = std::move(IoLoop::Start(bell)).value();
  Fd left, right;
};

Deadline Soon() { return Deadline::After(Seconds(30)); }

TEST(IoLoopTest, RingsWhenReadableOncePerAsking) {
  Fixture f;
  for (int turn = 0; turn < 100; ++turn) {
    Bell::Listener listener(f.bell.OfLinks());
    f.io->RingWhenReady(f.right.get(), false);
    ASSERT_EQ(::send(f.left.get(), "x", 1, 0), 1);
    ASSERT_TRUE(listener.Sleep(Soon()));
    char byte = 0;
    ASSERT_EQ(::recv(f.right.get(), &byte, 1, 0), 1);
  }
  // Not asked: what arrives rings nothing.
  Bell::Listener listener(f.bell.OfLinks());
  ASSERT_EQ(::send(f.left.get(), "x", 1, 0), 1);
  f.io->loop().Run([] {});
  EXPECT_FALSE(listener.Sleep(Deadline::After(Seconds(0.05))));
}

TEST(IoLoopTest, RingsAtOnceForWhatIsReadyAlready) {
  Fixture f;
  Bell::Listener listener(f.bell.OfLinks());
  f.io->RingWhenReady(f.left.get(), true);
  EXPECT_TRUE(listener.Sleep(Soon()));
}

TEST(IoLoopTest, RingsWhenTheOtherEndCloses) {
  Fixture f;
  Bell::Listener listener(f.bell.OfLinks());
  f.io->RingWhenReady(f.right.get(), false);
  f.left.Reset();
  EXPECT_TRUE(listener.Sleep(Soon()));
}

TEST(IoLoopTest, RingsForADescriptorThatCannotBeWatched) {
  Fixture f;
  Bell::Listener listener(f.bell.OfLinks());
  f.io->RingWhenReady(-1, false);
  EXPECT_TRUE(listener.Sleep(Soon()));
}

}  // namespace
}  // namespace horovodx::transport::tcp

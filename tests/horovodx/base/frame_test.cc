#include "horovodx/base/frame.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <random>

#include "horovodx/base/fd.h"
#include "horovodx/base/little_endian.h"

namespace horovodx {
namespace {

std::vector<std::byte> Content(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 31 + size);
  return bytes;
}

std::vector<std::byte> OnTheWire(std::uint32_t tag, const std::vector<std::byte>& content) {
  std::vector<std::byte> bytes(kFrameHeaderBytes + content.size());
  PutLittle(static_cast<std::uint32_t>(content.size()), bytes.data());
  PutLittle(tag, bytes.data() + 4);
  std::copy(content.begin(), content.end(), bytes.begin() + kFrameHeaderBytes);
  return bytes;
}

TEST(FrameParserTest, PiecesDoNotMatter) {
  std::vector<std::byte> stream;
  const std::size_t sizes[] = {0, 1, 7, 8, 9, 300, 0, 0, 64};
  for (const std::size_t size : sizes) {
    const auto frame = OnTheWire(static_cast<std::uint32_t>(size + 1), Content(size));
    stream.insert(stream.end(), frame.begin(), frame.end());
  }
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    FrameParser parser(300);
    std::vector<Frame> frames;
    for (ConstBytes rest = stream; !rest.empty();) {
      const std::size_t piece = std::min<std::size_t>(random() % 40, rest.size());
      ASSERT_TRUE(parser.Feed(rest.first(piece), &frames).ok());
      rest = rest.subspan(piece);
    }
    ASSERT_EQ(frames.size(), std::size(sizes));
    for (std::size_t i = 0; i < frames.size(); ++i) {
      EXPECT_EQ(frames[i].tag, sizes[i] + 1);
      EXPECT_EQ(frames[i].content, Content(sizes[i]));
    }
  }
}

TEST(FrameParserTest, RefusesWhatIsTooLongBeforeItArrives) {
  FrameParser parser(100);
  std::vector<Frame> frames;
  ASSERT_TRUE(parser.Feed(OnTheWire(5, Content(100)), &frames).ok());
  EXPECT_EQ(frames.size(), 1u);
  const auto header = OnTheWire(5, Content(101));
  const Status status = parser.Feed(ConstBytes(header).first(kFrameHeaderBytes), &frames);
  EXPECT_EQ(status.message(), "a message of 101 bytes is too long (at most 100)");
}

struct Pair {
  Pair() {
    int fds[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    left = Fd(fds[0]);
    right = Fd(fds[1]);
  }
  Fd left, right;
};

TEST(FrameQueueTest, SurvivesASocketThatTakesLittleAtATime) {
  Pair pair;
  FrameQueue queue;
  const std::size_t sizes[] = {0, 3'000'000, 1, 0, 70'000, 12};
  for (const std::size_t size : sizes) {
    queue.Push(static_cast<std::uint32_t>(size), Content(size));
  }
  FrameParser parser(3'000'000);
  std::vector<Frame> frames;
  bool was_full = false;
  for (int turn = 0; turn < 100'000 && frames.size() < std::size(sizes); ++turn) {
    ASSERT_TRUE(queue.SendSome(pair.left.get()).ok());
    was_full |= !queue.empty();
    ASSERT_TRUE(ReadFrames(pair.right.get(), parser, &frames).ok());
  }
  EXPECT_TRUE(was_full);
  EXPECT_TRUE(queue.empty());
  ASSERT_EQ(frames.size(), std::size(sizes));
  for (std::size_t i = 0; i < frames.size(); ++i) EXPECT_EQ(frames[i].content, Content(sizes[i]));
}

TEST(FrameQueueTest, SaysWhenTheOtherEndIsGoneAndKeepsWhatCameBefore) {
  Pair pair;
  FrameQueue queue;
  queue.Push(1, Content(5));
  ASSERT_TRUE(queue.SendSome(pair.left.get()).ok());
  pair.left.Reset();
  FrameParser parser(100);
  std::vector<Frame> frames;
  Status status = ReadFrames(pair.right.get(), parser, &frames).status();
  if (status.ok()) status = ReadFrames(pair.right.get(), parser, &frames).status();
  EXPECT_EQ(status.message(), "connection closed");
  EXPECT_EQ(frames.size(), 1u);
  queue.Push(1, Content(5));
  EXPECT_EQ(queue.SendSome(pair.right.get()).message(), "connection lost: Broken pipe");
}

}  // namespace
}  // namespace horovodx

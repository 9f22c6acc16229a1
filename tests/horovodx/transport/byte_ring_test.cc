#include "horovodx/transport/byte_ring.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <vector>

#include "horovodx/base/bell.h"

namespace horovodx::transport {
namespace {

struct Memory {
  explicit Memory(std::size_t capacity) : data(capacity) {}
  ByteRing ring() { return ByteRing(&counters, data.data(), data.size()); }
  ByteRing::Counters counters;
  std::vector<std::byte> data;
};

std::size_t WriteText(ByteRing& ring, const std::string& text) {
  const ConstBytes piece = BytesOf(text.data(), text.size());
  return ring.Write({&piece, 1});
}
std::string ReadText(ByteRing& ring, std::size_t most) {
  std::string text(most, '?');
  const MutableBytes piece = MutableBytesOf(text.data(), text.size());
  text.resize(ring.Read({&piece, 1}));
  return text;
}

TEST(ByteRingTest, ZeroedMemoryIsAnEmptyRing) {
  Memory memory(8);
  ByteRing ring = memory.ring();
  EXPECT_EQ(ring.filled(), 0u);
  EXPECT_EQ(ring.room(), 8u);
  EXPECT_EQ(ReadText(ring, 4), "");
}

TEST(ByteRingTest, TakesWhatFitsAndGivesWhatIsThere) {
  Memory memory(8);
  ByteRing ring = memory.ring();
  EXPECT_EQ(WriteText(ring, "0123456789"), 8u);
  EXPECT_EQ(ring.room(), 0u);
  EXPECT_EQ(WriteText(ring, "x"), 0u);
  EXPECT_EQ(ReadText(ring, 3), "012");
  EXPECT_EQ(WriteText(ring, "abcdef"), 3u);  // wraps
  EXPECT_EQ(ReadText(ring, 100), "34567abc");
  EXPECT_EQ(ring.filled(), 0u);
}

TEST(ByteRingTest, EmptyPiecesChangeNothing) {
  Memory memory(8);
  ByteRing ring = memory.ring();
  EXPECT_EQ(ring.Write({}), 0u);
  const std::string a = "ab", b = "cd";
  const ConstBytes pieces[] = {{}, BytesOf(a.data(), 2), {}, BytesOf(b.data(), 2), {}};
  EXPECT_EQ(ring.Write(pieces), 4u);
  EXPECT_EQ(ring.Read({}), 0u);
  EXPECT_EQ(ReadText(ring, 8), "abcd");
}

// Every capacity, also those that do not divide the counters' range, and pieces of every size.
TEST(ByteRingTest, AWriterAndAReaderThreadKeepTheOrder) {
  for (std::size_t capacity : {1UL, 7UL, 64UL, 1000UL}) {
    Memory memory(capacity);
    const unsigned bytes_in_all = static_cast<unsigned>(capacity) * 100;
    BellWord word;
    const Bell bell(&word);
    const Deadline deadline = Deadline::After(Seconds(60));
    std::thread writer([&] {
      ByteRing ring = memory.ring();
      Bell::Listener listener(bell);
      std::mt19937 random(1);
      for (unsigned sent = 0; sent < bytes_in_all && !deadline.Passed();) {
        std::byte bytes[64];
        const unsigned count = std::min<unsigned>(random() % 64 + 1, bytes_in_all - sent);
        for (unsigned i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>((sent + i) * 31);
        const unsigned first = random() % (count + 1);
        const ConstBytes pieces[] = {{bytes, first}, {bytes + first, count - first}};
        const auto written = ring.Write(pieces);
        if (written > 0) bell.Ring();
        if (written == 0 && ring.room() == 0) listener.Sleep(deadline);
        sent += static_cast<unsigned>(written);
      }
    });
    ByteRing ring = memory.ring();
    Bell::Listener listener(bell);
    std::mt19937 random(2);
    unsigned wrong = 0;
    unsigned received = 0;
    while (received < bytes_in_all && !deadline.Passed()) {
      std::byte bytes[64];
      const MutableBytes piece{bytes, random() % 64 + 1};
      const auto count = static_cast<unsigned>(ring.Read({&piece, 1}));
      if (count > 0) bell.Ring();
      if (count == 0 && ring.filled() == 0) listener.Sleep(deadline);
      for (unsigned i = 0; i < count; ++i) {
        wrong += bytes[i] != static_cast<std::byte>((received + i) * 31);
      }
      received += count;
    }
    writer.join();
    EXPECT_EQ(received, bytes_in_all);
    EXPECT_EQ(wrong, 0u) << "capacity " << capacity;
    EXPECT_EQ(ring.filled(), 0u);
  }
}

}  // namespace
}  // namespace horovodx::transport

#include "horovodx/rendezvous/store_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <string>
#include <thread>
#include <vector>

#include "horovodx/base/little_endian.h"
#include "horovodx/rendezvous/store_client.h"
#include "horovodx/rendezvous/store_protocol.h"

namespace horovodx::rendezvous {
namespace {

using testing::HasSubstr;

const Credentials kOurs{"a secret", "job"};

Deadline Soon() { return Deadline::After(Seconds(30)); }

std::unique_ptr<StoreServer> NewServer() {
  return std::move(StoreServer::Start("127.0.0.1", 0, kOurs.secret, kOurs.job_id)).value();
}
std::unique_ptr<StoreClient> NewClient(const StoreServer& server, int rank = 0) {
  return std::move(StoreClient::Connect(server.address(), kOurs, rank, Soon())).value();
}

// A connection that has passed the handshake and may say whatever it likes.
Fd Insider(const StoreServer& server) {
  Fd fd = std::move(ConnectTo(server.address(), Soon())).value();
  Handshake handshake =
      Handshake::Connect({Purpose::kStore, 0, -1, 0, 0, 0}, kOurs, *FreshNonce(), "server");
  EXPECT_TRUE(RunHandshake(fd.get(), handshake, Soon()).ok());
  return fd;
}

bool IsDropped(const Fd& fd) {
  char bytes[256];
  while (true) {
    const ssize_t got = ::recv(fd.get(), bytes, sizeof(bytes), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN)) return true;
    if (got < 0 && !WaitFor(fd.get(), POLLIN, Soon())) return false;
  }
}

TEST(StoreServerTest, ManyClientsSeeEachOthersValues) {
  const auto server = NewServer();
  constexpr int kRanks = 8;
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < kRanks; ++rank) {
    ranks.emplace_back([&, rank] {
      const auto client = NewClient(*server, rank);
      ASSERT_TRUE(client->Set("rank/" + std::to_string(rank), std::string(rank, 'x')).ok());
      for (int other = 0; other < kRanks; ++other) {
        const auto value = client->Get("rank/" + std::to_string(other), Soon());
        ASSERT_TRUE(value.ok()) << value.status().message();
        EXPECT_EQ(value.value(), std::string(other, 'x'));
      }
    });
  }
  for (std::thread& rank : ranks) rank.join();
}

TEST(StoreServerTest, SettingAgainReplaces) {
  const auto server = NewServer();
  const auto client = NewClient(*server);
  ASSERT_TRUE(client->Set("key", "old").ok());
  ASSERT_TRUE(client->Set("key", "new").ok());
  EXPECT_EQ(*client->Get("key", Soon()), "new");
}

TEST(StoreServerTest, ForgetsWhatBeginsSo) {
  const auto server = NewServer();
  const auto client = NewClient(*server);
  for (const char* key : {"a/1", "a/2", "a", "b/1"}) ASSERT_TRUE(client->Set(key, key).ok());
  ASSERT_TRUE(NewClient(*server, 1)->Forget("a/").ok());
  for (const char* key : {"a/1", "a/2"}) {
    EXPECT_FALSE(client->Get(key, Deadline::After(Seconds(0.001))).ok()) << key;
  }
  for (const char* key : {"a", "b/1"}) EXPECT_EQ(*client->Get(key, Soon()), key);
  for (const std::string& prefix : {std::string(), std::string(kMostKeyBytes + 1, 'k')}) {
    EXPECT_EQ(client->Forget(prefix).code(), StatusCode::kInvalidArgument);
  }
}

TEST(StoreServerTest, LongestKeysAndValuesFit) {
  const auto server = NewServer();
  const auto client = NewClient(*server);
  const std::string key(kMostKeyBytes, 'k');
  std::string value(kMostValueBytes, 'v');
  value[12345] = '\0';
  ASSERT_TRUE(client->Set(key, value).ok());
  EXPECT_EQ(*client->Get(key, Soon()), value);
  ASSERT_TRUE(client->Set("", "").ok());
  EXPECT_EQ(*client->Get("", Soon()), "");
}

TEST(StoreServerTest, SilentGarbageAndUninvitedConnectionsDisturbNobody) {
  const auto server = NewServer();
  std::vector<Fd> idle;
  for (int i = 0; i < 200; ++i) {
    idle.push_back(std::move(ConnectTo(server->address(), Soon())).value());
  }
  const Fd garbage = std::move(ConnectTo(server->address(), Soon())).value();
  const std::string noise(100'000, '\xee');
  ASSERT_GT(::send(garbage.get(), noise.data(), noise.size(), MSG_NOSIGNAL), 0);
  EXPECT_TRUE(IsDropped(garbage));
  const Status uninvited =
      StoreClient::Connect(server->address(), {"wrong", "job"}, 0, Soon()).status();
  EXPECT_THAT(uninvited.message(), HasSubstr("we do not know its job's secret"));
  const auto client = NewClient(*server);
  EXPECT_TRUE(client->Set("key", "value").ok());
  EXPECT_EQ(*client->Get("key", Soon()), "value");
}

TEST(StoreServerTest, MoreStrangersThanTheDoorHoldsDoNotKeepAFriendOut) {
  const auto server = NewServer();
  std::vector<Fd> crowd;
  for (int i = 0; i < 400; ++i) {  // more than stand at the door at once
    crowd.push_back(std::move(ConnectTo(server->address(), Soon())).value());
  }
  const auto client = NewClient(*server);
  EXPECT_TRUE(client->Set("key", "value").ok());
  EXPECT_TRUE(IsDropped(crowd.front()));
}

TEST(StoreServerTest, InsidersWhoBreakTheProtocolAreDropped) {
  const auto server = NewServer();
  const auto client = NewClient(*server);
  const auto frame = [](std::uint32_t size, std::uint32_t tag, std::vector<std::byte> content) {
    std::vector<std::byte> bytes(kFrameHeaderBytes);
    PutLittle(size, bytes.data());
    PutLittle(tag, bytes.data() + 4);
    bytes.insert(bytes.end(), content.begin(), content.end());
    return bytes;
  };
  const std::vector<std::byte> big_key = {std::byte{255}, std::byte{255}, std::byte{0},
                                          std::byte{0}};
  const std::vector<std::byte> broken[] = {
      frame(0xffffffff, 1, {}),             // oversized
      frame(kMostRequestBytes + 1, 1, {}),  // just too long
      frame(3, 1, {std::byte{1}, {}, {}}),  // no room for the key's size
      frame(4, 1, big_key),                 // key longer than the message
      frame(0, 77, {}),                     // unknown request
      frame(0, 2, {}),                      // Get without a wait
      frame(4 + kMostKeyBytes + 1, 2,       // Get of a long key
            std::vector<std::byte>(4 + kMostKeyBytes + 1)),
      frame(0, 3, {}),             // Forget everything
      frame(kMostKeyBytes + 1, 3,  // Forget of a long key
            std::vector<std::byte>(kMostKeyBytes + 1)),
  };
  for (const auto& bytes : broken) {
    const Fd fd = Insider(*server);
    ASSERT_EQ(::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), ssize_t(bytes.size()));
    EXPECT_TRUE(IsDropped(fd));
  }
  EXPECT_TRUE(client->Set("key", "value").ok()) << "the others do not notice";
}

TEST(StoreServerTest, ForgetsAWaiterThatIsGone) {
  const auto server = NewServer();
  {
    const Fd fd = Insider(*server);
    FrameQueue queue;
    queue.Push(2, std::vector<std::byte>(5, std::byte{'k'}));  // a very patient Get of "k"
    ASSERT_TRUE(queue.SendSome(fd.get()).ok());
  }
  const auto client = NewClient(*server);
  EXPECT_TRUE(client->Set("k", "value").ok());
  EXPECT_EQ(*client->Get("k", Soon()), "value");
}

TEST(StoreServerTest, PortInUseAndMissingSecretAreErrors) {
  const auto server = NewServer();
  EXPECT_THAT(StoreServer::Start("127.0.0.1", server->port(), "s", "j").status().message(),
              HasSubstr(server->address().ToString() + ": the port is in use"));
  EXPECT_FALSE(StoreServer::Start("127.0.0.1", 0, "", "j").ok());
}

}  // namespace
}  // namespace horovodx::rendezvous

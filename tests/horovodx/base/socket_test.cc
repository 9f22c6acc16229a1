#include "horovodx/base/socket.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

namespace horovodx {
namespace {

using testing::HasSubstr;

Deadline Soon() { return Deadline::After(Seconds(30)); }

TEST(SocketTest, ConnectsAndIsFitForAnEventLoop) {
  for (const char* host : {"127.0.0.1", "::1", "localhost"}) {
    Result<Fd> listener = ListenOn({host, 0});
    if (!listener.ok() && std::string(host) == "::1") continue;  // a machine without IPv6
    ASSERT_TRUE(listener.ok()) << listener.status().message();
    const Address address = *LocalAddressOf(listener->get());
    EXPECT_NE(address.port, 0);
    Result<Fd> client = ConnectTo(address, Soon());
    ASSERT_TRUE(client.ok()) << client.status().message();
    ASSERT_TRUE(WaitFor(listener->get(), POLLIN, Soon()));
    Result<Fd> server = AcceptFrom(listener->get());
    ASSERT_TRUE(server.ok() && server->valid());
    EXPECT_EQ(*PeerAddressOf(server->get()), *LocalAddressOf(client->get()));
    EXPECT_FALSE(AcceptFrom(listener->get())->valid()) << "nobody else is waiting";
    for (const int fd : {client->get(), server->get(), listener->get()}) {
      EXPECT_TRUE(::fcntl(fd, F_GETFL) & O_NONBLOCK);
      EXPECT_TRUE(::fcntl(fd, F_GETFD) & FD_CLOEXEC);
    }
    for (const int fd : {client->get(), server->get()}) {
      int at_once = 0;
      socklen_t size = sizeof(at_once);
      ::getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &at_once, &size);
      EXPECT_TRUE(at_once);
    }
  }
}

TEST(SocketTest, PortInUseIsAnErrorThatNamesIt) {
  Result<Fd> first = ListenOn({"127.0.0.1", 0});
  ASSERT_TRUE(first.ok());
  const Address taken = *LocalAddressOf(first->get());
  EXPECT_EQ(ListenOn(taken).status().message(),
            "cannot listen on " + taken.ToString() + ": the port is in use");
}

TEST(SocketTest, AddressOfAnotherMachineCannotBeListenedOn) {
  EXPECT_EQ(ListenOn({"192.0.2.1", 0}).status().message(),
            "cannot listen on 192.0.2.1:0: this machine has no such address");
  EXPECT_FALSE(ListenOn({"", 0}).ok()) << "all interfaces must be asked for";
  EXPECT_THAT(ListenOn({"no.such.host.invalid", 0}).status().message(),
              HasSubstr("'no.such.host.invalid'"));
}

TEST(SocketTest, InterfacesAreFoundByName) {
  const Result<std::string> lo = AddressOfInterface("lo");
  ASSERT_TRUE(lo.ok()) << lo.status().message();
  EXPECT_EQ(lo.value(), "127.0.0.1");
  const Status none = AddressOfInterface("nosuch9").status();
  EXPECT_EQ(none.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(none.message(), HasSubstr("'nosuch9'"));
  EXPECT_THAT(none.message(), HasSubstr("there are: "));
  EXPECT_THAT(none.message(), HasSubstr("lo"));
}

TEST(SocketTest, RefusedConnectionNamesTheAddress) {
  Address nobody;
  {
    Result<Fd> listener = ListenOn({"127.0.0.1", 0});
    ASSERT_TRUE(listener.ok());
    nobody = *LocalAddressOf(listener->get());
  }
  EXPECT_EQ(ConnectTo(nobody, Soon()).status().message(),
            "cannot connect to " + nobody.ToString() + ": Connection refused");
}

TEST(SocketTest, ConnectingEndsAtItsDeadline) {
  // A listener whose queue is full answers nobody.
  Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&any), sizeof(any)), 0);
  ASSERT_EQ(::listen(listener.get(), 0), 0);
  const Address address = *LocalAddressOf(listener.get());
  std::vector<Fd> queue;
  Status status;
  for (int i = 0; i < 10 && status.ok(); ++i) {
    Result<Fd> fd = ConnectTo(address, Deadline::After(Seconds(0.2)));
    status = fd.status();
    if (fd.ok()) queue.push_back(std::move(*fd));
  }
  EXPECT_EQ(status.message(), "cannot connect to " + address.ToString() + ": no answer in time");
}

TEST(SocketTest, AddressesAreReadAsTheyAreWritten) {
  for (const Address& address : {Address{"10.0.0.7", 4711}, Address{"fe80::1", 80}}) {
    const Result<Address> parsed = ParseAddress(address.ToString());
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(parsed.value(), address);
  }
  for (const char* wrong : {"", ":", "host", "host:", ":80", "host:x", "host:65536", "host:80x",
                            "host:-1", "fe80::1:80", "[]:80"}) {
    EXPECT_FALSE(ParseAddress(wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace horovodx

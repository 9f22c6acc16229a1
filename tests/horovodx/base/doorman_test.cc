#include "horovodx/base/doorman.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <string>
#include <vector>

namespace horovodx {
namespace {

const Credentials kOurs{"secret", "job"};
const Claims kCall{Purpose::kCourier, 3, 5, 0, 0, 0};

Deadline Soon() { return Deadline::After(Seconds(30)); }

// A doorman for rank 5, and the guests it let in.
struct House {
  explicit House(DoormanOptions options = {}) {
    options.where = {"127.0.0.1", 0};
    options.credentials = kOurs;
    options.rank = 5;
    options.accepts = MaskOf(Purpose::kCourier);
    doorman = std::move(Doorman::Open(*loop, options, [this](Guest guest) {
                MutexLock lock(mutex);
                guests.push_back(std::move(guest));
                changed.NotifyAll();
              })).value();
  }
  Guest NextGuest() {
    MutexLock lock(mutex);
    while (guests.empty()) {
      if (!changed.WaitUntil(mutex, Clock::now() + Seconds(30))) return {};
    }
    Guest guest = std::move(guests.front());
    guests.erase(guests.begin());
    return guest;
  }
  Fd Dial() { return std::move(ConnectTo(doorman->address(), Soon())).value(); }
  Status Call(const Fd& fd, const Credentials& credentials = kOurs) {
    Handshake handshake = Handshake::Connect(kCall, credentials, *FreshNonce(), "doorman");
    return RunHandshake(fd.get(), handshake, Soon());
  }

  Mutex mutex;
  CondVar changed;
  std::vector<Guest> guests;
  std::unique_ptr<EventLoop> loop = std::move(EventLoop::Start()).value();
  std::unique_ptr<Doorman> doorman;
};

// Reads until the other end closes; false at the deadline.
bool IsDropped(const Fd& fd) {
  char bytes[256];
  while (true) {
    const ssize_t got = ::recv(fd.get(), bytes, sizeof(bytes), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN)) return true;
    if (got < 0 && !WaitFor(fd.get(), POLLIN, Soon())) return false;
  }
}

TEST(DoormanTest, HandsOverWhoProvesItself) {
  House house;
  const Fd fd = house.Dial();
  ASSERT_TRUE(house.Call(fd).ok());
  const Guest guest = house.NextGuest();
  ASSERT_TRUE(guest.fd.valid());
  EXPECT_EQ(guest.claims, kCall);
  EXPECT_EQ(guest.address, *LocalAddressOf(fd.get()));
  EXPECT_EQ(::send(guest.fd.get(), "x", 1, 0), 1);
  EXPECT_TRUE(WaitFor(fd.get(), POLLIN, Soon()));
}

TEST(DoormanTest, DropsGarbageWrongSecretsAndTheSilent) {
  DoormanOptions options;
  options.limit = Seconds(0.1);
  House house(options);
  const Fd silent = house.Dial();
  const Fd garbage = house.Dial();
  const std::string text = "GET / HTTP/1.1\r\n\r\n";
  ASSERT_EQ(::send(garbage.get(), text.data(), text.size(), 0), ssize_t(text.size()));
  const Fd stranger = house.Dial();
  EXPECT_FALSE(house.Call(stranger, {"another", "job"}).ok());
  EXPECT_TRUE(IsDropped(garbage));
  EXPECT_TRUE(IsDropped(stranger));
  EXPECT_TRUE(IsDropped(silent));
  const Fd friendly = house.Dial();
  EXPECT_TRUE(house.Call(friendly).ok());
  EXPECT_TRUE(house.NextGuest().fd.valid());
}

TEST(DoormanTest, TheOldestStrangerMakesRoom) {
  DoormanOptions options;
  options.most_strangers = 3;
  options.limit = Seconds(600);  // only the crowd drops anyone here
  House house(options);
  const Fd oldest = house.Dial();
  ASSERT_TRUE(WaitFor(oldest.get(), POLLIN, Soon()));  // it has been greeted
  std::vector<Fd> crowd;
  for (int i = 0; i < 3; ++i) crowd.push_back(house.Dial());
  EXPECT_TRUE(IsDropped(oldest));
  EXPECT_TRUE(house.Call(crowd.back()).ok());
  EXPECT_TRUE(house.NextGuest().fd.valid());
}

TEST(DoormanTest, RefusesToGuardWithoutASecret) {
  const auto loop = std::move(EventLoop::Start()).value();
  DoormanOptions options;
  options.where = {"127.0.0.1", 0};
  EXPECT_FALSE(Doorman::Open(*loop, options, [](Guest) {}).ok());
}

}  // namespace
}  // namespace horovodx

// Tap: somebody on the network between two ranks, who writes down what passes and may change it.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <list>
#include <string>
#include <thread>
#include <vector>

#include "horovodx/base/fd.h"
#include "horovodx/base/mutex.h"
#include "horovodx/base/socket.h"

namespace horovodx::transport::tcp {

class Tap {
 public:
  // Whoever connects to address() reaches `to`.
  explicit Tap(Address to) : to_(std::move(to)) {
    listener_ = std::move(ListenOn({"127.0.0.1", 0})).value();
    address_ = *LocalAddressOf(listener_.get());
    thread_ = std::thread([this] { Main(); });
  }
  ~Tap() {
    stop_ = true;
    thread_.join();
  }
  const Address& address() const { return address_; }
  // All that callers have sent, in the order in which it passed.
  std::string heard() {
    MutexLock lock(mutex_);
    return heard_;
  }
  // From now on the last bit of whatever callers send is another.
  void Meddle() { meddle_ = true; }

 private:
  struct Call {
    Fd caller, callee;
    bool over = false;
  };

  static Deadline Long() { return Deadline::After(Seconds(60)); }

  void Main() {
    while (!stop_) {
      std::vector<pollfd> waits{{listener_.get(), POLLIN, 0}};
      for (const Call& call : calls_) {
        waits.push_back({call.caller.get(), POLLIN, 0});
        waits.push_back({call.callee.get(), POLLIN, 0});
      }
      ::poll(waits.data(), waits.size(), 20);
      std::size_t at = 1;
      for (Call& call : calls_) {
        if (waits[at].revents != 0) PassOn(call, call.caller, call.callee, true);
        if (waits[at + 1].revents != 0) PassOn(call, call.callee, call.caller, false);
        at += 2;
      }
      calls_.remove_if([](const Call& call) { return call.over; });
      if (waits[0].revents != 0) {
        Fd caller = std::move(AcceptFrom(listener_.get())).value();
        if (caller.valid()) {
          calls_.push_back({std::move(caller), std::move(ConnectTo(to_, Long())).value()});
        }
      }
    }
  }

  void PassOn(Call& call, const Fd& from, const Fd& to, bool forth) {
    char bytes[65536];
    ssize_t got = ::recv(from.get(), bytes, sizeof(bytes), MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return;
    call.over = call.over || got <= 0;
    if (got <= 0) return;
    if (forth) {
      if (meddle_) bytes[got - 1] = static_cast<char>(bytes[got - 1] ^ 1);
      MutexLock lock(mutex_);
      heard_.append(bytes, static_cast<std::size_t>(got));
    }
    for (ssize_t sent = 0; sent < got;) {
      const ssize_t some =
          ::send(to.get(), bytes + sent, static_cast<std::size_t>(got - sent), MSG_NOSIGNAL);
      if (some > 0) sent += some;
      if (some < 0 && (errno != EAGAIN || stop_)) {
        call.over = true;
        return;
      }
      if (some < 0) WaitFor(to.get(), POLLOUT, Deadline::After(Seconds(1)));
    }
  }

  const Address to_;
  Address address_;
  Fd listener_;
  std::list<Call> calls_;  // of the thread
  std::atomic<bool> stop_{false};
  std::atomic<bool> meddle_{false};
  Mutex mutex_;
  std::string heard_ HVDX_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace horovodx::transport::tcp

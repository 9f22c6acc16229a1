// Ranks in one process, each with its own bell, io thread and door on 127.0.0.1.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "horovodx/transport/tcp/acceptor.h"
#include "horovodx/transport/tcp/courier.h"
#include "horovodx/transport/tcp/io_loop.h"
#include "horovodx/transport/tcp/link_factory.h"

namespace horovodx::transport::tcp {

inline Deadline Soon() { return Deadline::After(Seconds(60)); }
inline const Credentials kOurs{"what only this job knows", "job 7"};

struct Place {
  BellWord word;
  Bell bell{&word};
  std::unique_ptr<IoLoop> io;
  std::unique_ptr<Acceptor> acceptor;
};

struct World {
  explicit World(topology::HostMap map, AcceptorOptions door = {})
      : hosts(std::move(map)), tls(door.tls) {
    for (int rank = 0; rank < hosts.size(); ++rank) {
      places.push_back(std::make_unique<Place>());
      Place& place = *places.back();
      place.io = std::move(IoLoop::Start(place.bell)).value();
      door.where = {"127.0.0.1", 0};
      door.credentials = kOurs;
      door.rank = rank;
      place.acceptor = std::move(Acceptor::Start(*place.io, door)).value();
      addresses.push_back(place.acceptor->address());
    }
  }
  explicit World(int ranks) : World(topology::HostMap::OneHost(ranks)) {}

  Place& at(int rank) { return *places[rank]; }

  Result<std::unique_ptr<Courier>> NewCourier(int rank, double heartbeat = 10,
                                              const Deadline& deadline = Soon()) {
    CourierOptions options{rank, hosts, addresses, kOurs, Seconds(heartbeat), tls};
    return Courier::Connect(options, *at(rank).io, *at(rank).acceptor, deadline);
  }

  // Couriers of all ranks, or only of those asked for.
  std::vector<std::unique_ptr<Courier>> NewCouriers(double heartbeat = 10) {
    std::vector<std::unique_ptr<Courier>> couriers(hosts.size());
    std::vector<std::thread> threads;
    for (int rank = 0; rank < hosts.size(); ++rank) {
      threads.emplace_back(
          [&, rank] { couriers[rank] = std::move(NewCourier(rank, heartbeat)).value(); });
    }
    for (std::thread& thread : threads) thread.join();
    return couriers;
  }

  std::unique_ptr<LinkFactory> NewFactory(int rank, int streams = 2, double limit = 60) {
    LinkOptions options{rank, addresses, kOurs, streams, Seconds(limit), tls};
    return std::make_unique<LinkFactory>(options, *at(rank).io, *at(rank).acceptor);
  }

  topology::HostMap hosts;
  std::shared_ptr<const tls::Context> tls;
  std::vector<std::unique_ptr<Place>> places;
  std::vector<Address> addresses;
};

// A connection to `rank` that has proved itself and may do anything.
inline Fd Insider(World& world, const Claims& claims) {
  Fd fd = std::move(ConnectTo(world.addresses[claims.to], Soon())).value();
  Handshake handshake = Handshake::Connect(claims, kOurs, *FreshNonce(), "a rank");
  return RunHandshake(fd.get(), handshake, Soon()).ok() ? std::move(fd) : Fd();
}

// The next deliveries of a courier, waited for by its bell.
inline std::vector<Delivery> Await(Place& place, Courier& courier, std::size_t count = 1) {
  std::vector<Delivery> all;
  const Deadline deadline = Soon();
  Bell::Listener listener(place.bell);
  while (all.size() < count) {
    if (!courier.HasMail() && !listener.Sleep(deadline)) break;
    for (Delivery& delivery : courier.Receive()) all.push_back(std::move(delivery));
  }
  return all;
}

// Reads until the other end closes; false at the deadline.
inline bool IsDropped(const Fd& fd) {
  char bytes[4096];
  while (true) {
    const ssize_t got = ::recv(fd.get(), bytes, sizeof(bytes), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN)) return true;
    if (got < 0 && !WaitFor(fd.get(), POLLIN, Soon())) return false;
  }
}

}  // namespace horovodx::transport::tcp

#include "horovodx/transport/tcp/link_factory.h"

#include <algorithm>
#include <utility>

#include "horovodx/transport/tcp/dial.h"
#include "horovodx/transport/tcp/link.h"

namespace horovodx::transport::tcp {

LinkFactory::LinkFactory(LinkOptions options, IoLoop& io, Acceptor& acceptor)
    : options_(std::move(options)), io_(io), acceptor_(acceptor), flusher_(io.loop()) {
  options_.streams = std::clamp(options_.streams, 1, static_cast<int>(kMostStreams));
}

std::string LinkFactory::NameOf(int peer) const {
  return "rank " + std::to_string(peer) + " (" + options_.addresses[peer].ToString() + ", tcp)";
}

std::unique_ptr<OutLink> LinkFactory::MakeOut(std::uint32_t channel, int peer, const int& in_use) {
  auto connect = [this, channel, peer](const std::shared_ptr<Berth>& berth) -> TcpOutLink::Undo {
    std::vector<std::shared_ptr<Dial>> dials;
    const Deadline deadline = Deadline::After(options_.connect_limit);
    for (int stream = 0; stream < options_.streams; ++stream) {
      Claims claims{Purpose::kLink, options_.rank, peer, channel, 0, 0};
      claims.stream = static_cast<std::uint16_t>(stream);
      claims.streams = static_cast<std::uint16_t>(options_.streams);
      const auto done = [berth, claims](Result<Connection> made) {
        const Status status = made.ok()
                                  ? berth->Deposit(claims.stream, claims.streams, std::move(*made))
                                  : made.status();
        if (!status.ok()) berth->Fail(status);
      };
      dials.push_back(Dial::Start(io_.loop(), options_.addresses[peer], claims,
                                  options_.credentials, deadline, done, options_.tls));
    }
    return [&loop = io_.loop(), dials] {
      loop.Post([dials] {
        for (const auto& dial : dials) dial->CancelOnLoop();
      });
    };
  };
  LinkState state("rank " + std::to_string(options_.rank), NameOf(peer));
  return std::make_unique<TcpOutLink>(std::move(state), std::make_shared<Berth>(io_.bell()),
                                      std::move(connect), in_use, flusher_);
}

std::unique_ptr<InLink> LinkFactory::MakeIn(std::uint32_t channel, int peer) {
  LinkState state("rank " + std::to_string(options_.rank), NameOf(peer));
  return std::make_unique<TcpInLink>(std::move(state), acceptor_.BerthOf(channel, peer),
                                     [this, channel, peer] { acceptor_.Forget(channel, peer); });
}

}  // namespace horovodx::transport::tcp

#include "horovodx/rendezvous/store_client.h"

#include <poll.h>

#include <algorithm>
#include <limits>
#include <thread>
#include <utility>

#include "horovodx/rendezvous/store_protocol.h"

namespace horovodx::rendezvous {
namespace {

constexpr int kAttempts = 3;
constexpr auto kBetweenAttempts = std::chrono::milliseconds(500);
// What an answer may take on top of the time the server was asked to wait.
constexpr auto kGrace = std::chrono::seconds(10);

Status TooLong(const std::string& what, std::size_t size, std::size_t most) {
  return Status::InvalidArgument("rendezvous: " + what + " has " + std::to_string(size) +
                                 " bytes; at most " + std::to_string(most) + " are possible");
}

std::string Shortened(const std::string& key) { return "key '" + key.substr(0, 40) + "...'"; }

}  // namespace

Result<std::unique_ptr<StoreClient>> StoreClient::Connect(const Address& server,
                                                          const Credentials& credentials, int rank,
                                                          const Deadline& deadline) {
  HVDX_RETURN_IF_ERROR(CheckCredentials(credentials));
  std::unique_ptr<StoreClient> client(new StoreClient(server, credentials, rank));
  for (int attempt = 1;; ++attempt) {
    Result<Fd> fd = client->Dial(deadline);
    if (fd.ok()) {
      client->GiveBack(std::move(*fd));
      return client;
    }
    const bool last = attempt == kAttempts || deadline.Left() < kBetweenAttempts;
    if (last || fd.status().code() != StatusCode::kUnknown) return fd.status();
    std::this_thread::sleep_for(kBetweenAttempts);
  }
}

Result<Fd> StoreClient::Dial(const Deadline& deadline) const {
  Result<Fd> fd = ConnectTo(server_, deadline);
  if (!fd.ok()) return Status(fd.status().code(), "rendezvous: " + fd.status().message());
  ProbeWhenIdle(fd->get());
  HVDX_ASSIGN_OR_RETURN(const Nonce nonce, FreshNonce());
  const Claims claims{Purpose::kStore, rank_, -1, 0, 0, 0};
  Handshake handshake =
      Handshake::Connect(claims, credentials_, nonce, "the rendezvous " + server_.ToString());
  const Deadline limit =
      Deadline::At(std::min(deadline.at(), Clock::now() + Duration(kHandshakeLimit)));
  HVDX_RETURN_IF_ERROR(RunHandshake(fd->get(), handshake, limit));
  return fd;
}

Result<Fd> StoreClient::Borrow(const Deadline& deadline) {
  {
    MutexLock lock(mutex_);
    if (!idle_.empty()) {
      Fd fd = std::move(idle_.back());
      idle_.pop_back();
      return fd;
    }
  }
  return Dial(deadline);
}

void StoreClient::GiveBack(Fd fd) {
  MutexLock lock(mutex_);
  idle_.push_back(std::move(fd));
}

Result<Frame> StoreClient::Ask(const StoreRequest& request, const Deadline& deadline) {
  Result<Fd> fd = Borrow(deadline);
  if (!fd.ok()) {
    const bool down = fd.status().code() == StatusCode::kUnknown;
    return down ? Status::Aborted(fd.status().message()) : fd.status();
  }
  Result<Frame> answer = Exchange(fd->get(), Encode(request), deadline);
  if (answer.ok()) GiveBack(std::move(*fd));
  return answer;
}

Result<Frame> StoreClient::Exchange(int fd, Frame request, const Deadline& deadline) const {
  FrameQueue out;
  out.Push(request.tag, std::move(request.content));
  FrameParser parser(kMostValueBytes);
  std::vector<Frame> answers;
  while (answers.empty()) {
    const Status sent = out.SendSome(fd);
    if (!sent.ok()) return Error(sent.message());
    const short events = static_cast<short>(POLLIN | (out.empty() ? 0 : POLLOUT));
    if (!WaitFor(fd, events, deadline)) return Error("no answer in time");
    const Status read = ReadFrames(fd, parser, &answers).status();
    if (!read.ok() && answers.empty()) return Error(read.message());
  }
  return std::move(answers.front());
}

Status StoreClient::Error(const std::string& what) const {
  return Status::Aborted("rendezvous: lost the server " + server_.ToString() +
                         " (horovodrun): " + what);
}

Status StoreClient::Set(const std::string& key, const std::string& value) {
  if (key.size() > kMostKeyBytes) return TooLong(Shortened(key), key.size(), kMostKeyBytes);
  if (value.size() > kMostValueBytes) {
    return TooLong("the value of '" + key + "'", value.size(), kMostValueBytes);
  }
  HVDX_ASSIGN_OR_RETURN(const Frame answer,
                        Ask({StoreTag::kSet, key, value, {}}, Deadline::After(kGrace)));
  if (answer.tag != static_cast<std::uint32_t>(StoreTag::kDone)) return Error("a strange answer");
  return Status::Ok();
}

Status StoreClient::Forget(const std::string& prefix) {
  if (prefix.empty()) return Status::InvalidArgument("rendezvous: Forget needs a prefix");
  if (prefix.size() > kMostKeyBytes) {
    return TooLong(Shortened(prefix), prefix.size(), kMostKeyBytes);
  }
  HVDX_ASSIGN_OR_RETURN(const Frame answer,
                        Ask({StoreTag::kForget, prefix, "", {}}, Deadline::After(kGrace)));
  if (answer.tag != static_cast<std::uint32_t>(StoreTag::kDone)) return Error("a strange answer");
  return Status::Ok();
}

Result<std::string> StoreClient::Get(const std::string& key, const Deadline& deadline) {
  if (key.size() > kMostKeyBytes) return TooLong(Shortened(key), key.size(), kMostKeyBytes);
  while (true) {
    // Waits longer than an hour (the most Left() says) are asked for again.
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline.Left());
    HVDX_ASSIGN_OR_RETURN(const Frame answer,
                          Ask({StoreTag::kGet, key, "", left}, Deadline::After(left + kGrace)));
    switch (static_cast<StoreTag>(answer.tag)) {
      case StoreTag::kValue:
        return std::string(reinterpret_cast<const char*>(answer.content.data()),
                           answer.content.size());
      case StoreTag::kAbsent:
        if (!deadline.Passed()) continue;
        return Status::Unknown("rendezvous: nobody has set '" + key + "' within the time limit");
      default:
        return Error("a strange answer");
    }
  }
}

}  // namespace horovodx::rendezvous

#include "horovodx/transport/tcp/courier.h"

#include <sys/epoll.h>

#include <sstream>
#include <utility>

#include "horovodx/base/check.h"
#include "horovodx/base/log.h"
#include "horovodx/transport/tcp/control_tree.h"

namespace horovodx::transport::tcp {
namespace {

constexpr std::uint32_t kHeartbeat = 0;
constexpr std::uint32_t kMessage = 1;

// What the end of a connection means to who reads only this line.
std::string Explained(const std::string& what) {
  return what.starts_with("connection") ? what + ", so its process has ended or the network broke"
                                        : what;
}

}  // namespace

Result<std::unique_ptr<Courier>> Courier::Connect(CourierOptions options, IoLoop& io,
                                                  Acceptor& acceptor, const Deadline& deadline) {
  const int parent = ParentOf(options.hosts, options.rank);
  std::unique_ptr<Courier> courier(new Courier(std::move(options), io, acceptor));
  io.loop().Run([&] { courier->BeginOnIo(parent, deadline); });
  HVDX_RETURN_IF_ERROR(courier->AwaitNeighbours(deadline));
  return courier;
}

Courier::Courier(CourierOptions options, IoLoop& io, Acceptor& acceptor)
    : options_(std::move(options)), io_(io), acceptor_(acceptor) {
  const auto add = [this](int rank) {
    neighbours_.emplace(rank, std::make_unique<Neighbour>(Describe(rank)));
  };
  if (const int parent = ParentOf(options_.hosts, options_.rank); parent >= 0) add(parent);
  for (const int child : ChildrenOf(options_.hosts, options_.rank)) add(child);
  missing_ = neighbours_.size();
}

Courier::~Courier() {
  goodbyes_ = true;
  io_.loop().Run([this] {
    if (dial_ != nullptr) dial_->CancelOnLoop();
    acceptor_.SetCourierOnIo(nullptr);
    io_.loop().Cancel(tick_);
    // Unread bytes would make the kernel reset the connection, and what we sent last be lost.
    for (const auto& [rank, neighbour] : neighbours_) {
      if (ReadOnIo(rank)) LoseOnIo(rank, "closed by us");
    }
  });
}

std::string Courier::Describe(int rank) const {
  return "rank " + std::to_string(rank) + " (host " +
         options_.hosts.host_name(options_.hosts.host_of(rank)) + ", " +
         options_.addresses[rank].ToString() + ")";
}

Status Courier::AwaitNeighbours(const Deadline& deadline) {
  {
    MutexLock lock(mutex_);
    while (missing_ > 0 && failure_.ok() && !deadline.Passed()) {
      changed_.WaitUntil(mutex_, Clock::now() + deadline.Left());
    }
    HVDX_RETURN_IF_ERROR(failure_);
    if (missing_ == 0) return Status::Ok();
  }
  std::string names;
  io_.loop().Run([&] {
    for (const auto& [rank, neighbour] : neighbours_) {
      if (!neighbour->greeted) names += (names.empty() ? "" : ", ") + neighbour->name;
    }
  });
  return Status::Unknown("rank " + std::to_string(options_.rank) +
                         " waited too long for a control connection with " + names);
}

void Courier::BeginOnIo(int parent, const Deadline& deadline) {
  HVDX_DCHECK(io_.loop().OnLoop());
  acceptor_.SetCourierOnIo(
      [this](Arrival call) { AttachOnIo(call.claims.from, std::move(call.connection)); });
  last_tick_ = Clock::now();
  tick_ = io_.loop().At(last_tick_ + options_.heartbeat_limit / 4, [this] { TickOnIo(); });
  if (parent < 0) return;
  const Claims claims{Purpose::kCourier, options_.rank, parent, 0, 0, 0};
  const auto done = [this, parent](Result<Connection> made) {
    if (made.ok()) return AttachOnIo(parent, std::move(*made));
    LoseOnIo(parent, made.status().message());
  };
  dial_ = Dial::Start(io_.loop(), options_.addresses[parent], claims, options_.credentials,
                      deadline, done, options_.tls);
}

void Courier::AttachOnIo(int rank, Connection connection) {
  HVDX_DCHECK(io_.loop().OnLoop());
  // What has come together with the end of TLS's handshake makes no event.
  if (TakeOnIo(rank, std::move(connection))) ReadOnIo(rank);
}

bool Courier::TakeOnIo(int rank, Connection connection) {
  HVDX_DCHECK(io_.loop().OnLoop());
  const auto it = neighbours_.find(rank);
  if (it == neighbours_.end()) {
    HVDX_LOG_RANK(kWarning, options_.rank)
        << "dropped a control connection of rank " << rank << ", which is no neighbour";
    return false;
  }
  Neighbour& neighbour = *it->second;
  MutexLock lock(neighbour.mutex);
  if (neighbour.lost || neighbour.connection.valid()) {
    HVDX_LOG_RANK(kWarning, options_.rank)
        << "dropped a second control connection of " << neighbour.name;
    return false;
  }
  const Status added = io_.loop().Add(
      connection.fd(), EPOLLIN, [this, rank](std::uint32_t events) { ServeOnIo(rank, events); });
  if (!added.ok()) {
    HVDX_LOG_RANK(kError, options_.rank) << neighbour.name << ": " << added.message();
    return false;
  }
  neighbour.heard = Clock::now();
  neighbour.connection = std::move(connection);
  neighbour.out.Push(kHeartbeat, {});  // tells the other side that we are there
  SendSome(rank, neighbour);
  return neighbour.connection.holds_input();
}

void Courier::ServeOnIo(int rank, std::uint32_t events) {
  HVDX_DCHECK(io_.loop().OnLoop());
  Neighbour& neighbour = *neighbours_.at(rank);
  if ((events & EPOLLOUT) != 0) {
    MutexLock lock(neighbour.mutex);
    SendSome(rank, neighbour);
  }
  if ((events & ~EPOLLOUT) != 0) ReadOnIo(rank);
}

// False if there is no connection (any more).
bool Courier::ReadOnIo(int rank) {
  HVDX_DCHECK(io_.loop().OnLoop());
  Neighbour& neighbour = *neighbours_.at(rank);
  Connection* connection = ConnectionOf(neighbour);
  if (connection == nullptr) return false;
  std::vector<Frame> frames;
  const auto receive = [connection](MutableBytes into) {
    iovec piece{into.data(), into.size()};
    return connection->Receive(std::span(&piece, 1));
  };
  const Result<std::size_t> read = ReadFrames(receive, neighbour.in, &frames);
  if (!frames.empty()) GreetedOnIo(neighbour);
  for (Frame& frame : frames) {
    if (frame.tag == kHeartbeat) continue;
    if (frame.tag != kMessage) {
      LoseOnIo(rank, "sent a frame of unknown kind " + std::to_string(frame.tag));
      return false;
    }
    Deliver({rank, std::move(frame.content), Status::Ok()});
  }
  if (!read.ok()) {
    const std::string tls = connection->session() ? connection->session()->failure() : "";
    LoseOnIo(rank, Explained(tls.empty() ? read.status().message() : "connection lost: " + tls));
    return false;
  }
  if (read.value() > 0) neighbour.heard = Clock::now();
  return true;
}

Connection* Courier::ConnectionOf(Neighbour& neighbour) {
  MutexLock lock(neighbour.mutex);
  return neighbour.connection.valid() ? &neighbour.connection : nullptr;
}

void Courier::GreetedOnIo(Neighbour& neighbour) {
  HVDX_DCHECK(io_.loop().OnLoop());
  if (neighbour.greeted) return;
  neighbour.greeted = true;
  MutexLock lock(mutex_);
  --missing_;
  changed_.NotifyAll();
}

void Courier::TickOnIo() {
  HVDX_DCHECK(io_.loop().OnLoop());
  const TimePoint now = Clock::now();
  // A tick this late means that we slept, and so may have our neighbours (a suspended machine, a
  // frozen container): they get time to wake up before their silence counts.
  const bool slept = now - last_tick_ > options_.heartbeat_limit / 2;
  last_tick_ = now;
  tick_ = io_.loop().At(now + options_.heartbeat_limit / 4, [this] { TickOnIo(); });
  for (const auto& [rank, neighbour] : neighbours_) {
    {
      MutexLock lock(neighbour->mutex);
      if (!neighbour->connection.valid()) continue;
      if (neighbour->out.empty()) {  // else something is on its way already
        neighbour->out.Push(kHeartbeat, {});
        SendSome(rank, *neighbour);
      }
    }
    if (slept) neighbour->heard = now;
    if (!neighbour->greeted || now - neighbour->heard < options_.heartbeat_limit) continue;
    // It may be us who slept: look before judging.
    if (!ReadOnIo(rank) || now - neighbour->heard < options_.heartbeat_limit) continue;
    std::ostringstream why;
    why << "silent for " << ToSeconds(options_.heartbeat_limit)
        << " s, so it was stopped or its host or network is down";
    LoseOnIo(rank, why.str());
  }
}

void Courier::LoseOnIo(int rank, const std::string& why) {
  HVDX_DCHECK(io_.loop().OnLoop());
  Neighbour& neighbour = *neighbours_.at(rank);
  {
    MutexLock lock(neighbour.mutex);
    if (std::exchange(neighbour.lost, true)) return;
    if (neighbour.connection.valid()) io_.loop().Remove(neighbour.connection.fd());
    neighbour.connection.Reset();
    neighbour.out = FrameQueue();
    neighbour.drained.NotifyAll();
  }
  const Status lost = Status::Unknown(neighbour.name + ": " + why);
  {
    MutexLock lock(mutex_);
    if (failure_.ok()) failure_ = lost;
    changed_.NotifyAll();
  }
  if (!goodbyes_) Deliver({rank, {}, lost});
}

void Courier::Deliver(Delivery delivery) {
  {
    MutexLock lock(mutex_);
    inbox_.push_back(std::move(delivery));
    has_mail_.store(true, std::memory_order_release);
  }
  io_.bell().Ring();
}

std::vector<Delivery> Courier::Receive() {
  MutexLock lock(mutex_);
  has_mail_.store(false, std::memory_order_release);
  return std::exchange(inbox_, {});
}

void Courier::Send(int to, std::vector<std::byte> message) {
  const auto it = neighbours_.find(to);
  HVDX_CHECK(it != neighbours_.end());
  Neighbour& neighbour = *it->second;
  if (message.size() > kMostMessageBytes) {
    // It would be the other end that hangs up, with less to say about it.
    const std::string why = "a message of " + std::to_string(message.size()) + " bytes is too long";
    return io_.loop().Post([this, to, why] { LoseOnIo(to, why); });
  }
  MutexLock lock(neighbour.mutex);
  if (neighbour.lost) return;
  neighbour.out.Push(kMessage, std::move(message));
  if (!neighbour.awaits_room) SendSome(to, neighbour);
}

void Courier::SendSome(int rank, Neighbour& neighbour) {
  Connection& connection = neighbour.connection;
  if (!connection.valid()) return;
  connection.Flush();
  // An error is left to the io thread, which hears of it by the same socket and reads first what
  // came before.
  const auto send = [to = &connection](std::span<iovec> pieces) { return to->Send(pieces); };
  const bool sent = neighbour.out.SendSome(send).ok();
  const bool left = !neighbour.out.empty() || connection.holds_output();
  if (!left) neighbour.drained.NotifyAll();
  const bool stuck = sent && left;
  if (stuck == neighbour.awaits_room) return;
  neighbour.awaits_room = stuck;
  if (io_.loop().OnLoop()) return WatchOnIo(neighbour);
  io_.loop().Post([this, rank] {
    Neighbour& now = *neighbours_.at(rank);
    MutexLock again(now.mutex);
    if (now.connection.valid()) WatchOnIo(now);
  });
}

void Courier::WatchOnIo(Neighbour& neighbour) {
  HVDX_DCHECK(io_.loop().OnLoop());
  io_.loop().Change(neighbour.connection.fd(),
                    neighbour.awaits_room ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

void Courier::Flush(double seconds) {
  const Deadline deadline = Deadline::After(Seconds(seconds));
  for (const auto& [rank, neighbour] : neighbours_) {
    MutexLock lock(neighbour->mutex);
    while (!neighbour->lost && (!neighbour->out.empty() || neighbour->connection.holds_output())) {
      if (deadline.Passed()) return;
      neighbour->drained.WaitUntil(neighbour->mutex, deadline.at());
    }
  }
}

}  // namespace horovodx::transport::tcp

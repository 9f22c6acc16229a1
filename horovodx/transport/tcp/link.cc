#include "horovodx/transport/tcp/link.h"

#include <poll.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

namespace horovodx::transport::tcp {
namespace {

// Then the other direction gets its turn.
constexpr std::size_t kMostPerCall = 4 * kStripeBytes;

// Moves pieces until the socket has had enough. `move` is one call on (connection, pieces): how
// many bytes, 0 for the end of the stream, -1 with errno.
template <typename Piece, typename Move>
Result<std::size_t> MoveSome(LinkState& state, std::span<const Piece> pieces, int in_use,
                             Move move) {
  PieceCursor<Piece> cursor(pieces);
  std::size_t total = 0;
  while (!cursor.done() && total < kMostPerCall) {
    const MutableBytes label = state.Label(in_use);
    const ssize_t moved = move(state.next(), cursor.Next(state.room(), label));
    if (moved > 0) {
      const auto bytes = static_cast<std::size_t>(moved) - label.size();
      const bool short_move = bytes < cursor.offered();
      state.Moved(bytes);
      if (!state.failure().ok()) break;
      cursor.Advance(bytes);
      total += bytes;
      if (short_move) break;  // the socket is full or empty: no need to be told so
    } else if (moved == 0) {
      state.Fail("connection closed");
      break;
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      state.Fail(state.next().Error());
      break;
    }
  }
  // What was moved before a failure counts; the next call tells of it.
  if (total == 0 && !state.failure().ok()) return state.failure();
  return total;
}

}  // namespace

bool LinkState::Pick(Berth& berth) {
  if (connected() || !failure_.ok() || !berth.ready()) return false;
  Result<std::vector<Connection>> sockets = berth.Take();
  if (sockets.ok()) {
    sockets_ = std::move(*sockets);
    stripes_ = Stripes(sockets_.size());
  } else {
    Fail(sockets.status().message());
  }
  return true;
}

Connection& LinkState::next() { return sockets_[stripes_.socket()]; }

int LinkState::fd() { return connected() ? next().fd() : -1; }

MutableBytes LinkState::Label(int in_use) {
  if (!stripes_.label_due()) return {};
  const std::size_t all = sockets_.size();
  const std::size_t round = in_use <= 0 ? all : std::min(static_cast<std::size_t>(in_use), all);
  const std::size_t next = stripes_.socket() + 1 < round ? stripes_.socket() + 1 : 0;
  label_ = static_cast<std::byte>(next);
  return {&label_, 1};
}

void LinkState::Moved(std::size_t bytes) {
  if (stripes_.label_due() && !stripes_.Begin(static_cast<std::size_t>(label_))) {
    Fail("it named socket " + std::to_string(static_cast<int>(label_)) + " of " +
         std::to_string(sockets_.size()));
    return;
  }
  stripes_.Moved(bytes);
  moved_ += bytes;
}

void LinkState::Fail(const std::string& why) {
  failure_ = Status::Unknown("tcp: " + me_ + " lost " + peer_ + ": " + why + " after " +
                             std::to_string(moved_) + " bytes");
}

bool LinkState::Polls(short events) {
  pollfd poll{fd(), events, 0};
  return ::poll(&poll, 1, 0) > 0;
}

TcpOutLink::TcpOutLink(LinkState state, std::shared_ptr<Berth> berth, Connect connect,
                       const int& in_use, Flusher& flusher)
    : state_(std::move(state)),
      berth_(std::move(berth)),
      connect_(std::move(connect)),
      in_use_(in_use),
      flusher_(flusher) {}

TcpOutLink::~TcpOutLink() {
  if (undo_) undo_();
}

void TcpOutLink::ConnectOnce() {
  if (!connect_) return;
  undo_ = connect_(berth_);
  connect_ = nullptr;
}

Result<std::size_t> TcpOutLink::TryWrite(std::span<const ConstBytes> pieces) {
  if (!state_.connected()) {
    ConnectOnce();
    state_.Pick(*berth_);
  }
  if (!state_.failure().ok()) return state_.failure();
  if (!state_.connected()) return std::size_t{0};
  return MoveSome(state_, pieces, in_use_, [this](Connection& to, std::span<iovec> some) {
    const ssize_t sent = to.Send(some);
    const int error = errno;
    flusher_.See(to);
    errno = error;
    return sent;
  });
}

bool TcpOutLink::Writable() {
  if (!state_.failure().ok()) return true;
  if (state_.connected()) return state_.Polls(POLLOUT);
  ConnectOnce();
  // Sockets that have just come count: whoever waits must look at fd() again.
  return state_.Pick(*berth_);
}

TcpInLink::TcpInLink(LinkState state, std::shared_ptr<Berth> berth, std::function<void()> forget)
    : state_(std::move(state)), berth_(std::move(berth)), forget_(std::move(forget)) {}

TcpInLink::~TcpInLink() { forget_(); }

Result<std::size_t> TcpInLink::TryRead(std::span<const MutableBytes> pieces) {
  state_.Pick(*berth_);
  if (!state_.failure().ok()) return state_.failure();
  if (!state_.connected()) return std::size_t{0};
  return MoveSome(state_, pieces, 0,
                  [](Connection& from, std::span<iovec> some) { return from.Receive(some); });
}

bool TcpInLink::Readable() {
  if (!state_.failure().ok()) return true;
  if (state_.connected()) return state_.next().holds_input() || state_.Polls(POLLIN);
  return state_.Pick(*berth_);  // see Writable
}

int TcpInLink::fd() {
  // No descriptor tells of what TLS has read already: whoever waits must ask Readable.
  return state_.connected() && state_.next().holds_input() ? -1 : state_.fd();
}

}  // namespace horovodx::transport::tcp

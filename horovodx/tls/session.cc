#include "horovodx/tls/session.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "horovodx/base/hex.h"
#include "horovodx/base/socket.h"

namespace horovodx::tls {
namespace {

using openssl::Call;

// What is encrypted before the socket is tried again; so much may be held for it.
constexpr std::size_t kMostAtOnce = 64 * 1024;
constexpr std::size_t kBindingBytes = 16;
constexpr char kClosedText[] = "connection closed";

}  // namespace

Result<std::shared_ptr<Session>> Session::Make(std::shared_ptr<const Context> context, Fd socket,
                                               End end, const Digest& binding) {
  std::string name = HexOf(ConstBytes(binding).first(kBindingBytes));
  std::shared_ptr<Session> session(
      new Session(std::move(context), std::move(socket), end, std::move(name)));
  HVDX_RETURN_IF_ERROR(session->Open());
  return session;
}

Session::Session(std::shared_ptr<const Context> context, Fd socket, End end, std::string name)
    : context_(std::move(context)),
      end_(end),
      name_(std::move(name)),
      fd_(socket.get()),
      socket_(std::move(socket)) {}

Session::~Session() {
  MutexLock lock(mutex_);
  if (ssl_ != nullptr) Call().SSL_free(ssl_);
}

Status Session::Open() {
  MutexLock lock(mutex_);
  Call().ERR_clear_error();
  ssl_ = Call().SSL_new(context_->get());
  openssl::Bio* bio = ssl_ != nullptr ? socket_.NewBio() : nullptr;
  if (bio == nullptr) return Status::Unknown("cannot begin TLS: " + openssl::TakeError());
  Call().SSL_set_bio(ssl_, bio, bio);  // which owns it now
  if (end_ == End::kAcceptor) {
    Call().SSL_set_accept_state(ssl_);
    return Status::Ok();
  }
  Call().SSL_set_connect_state(ssl_);
  auto* name = const_cast<char*>(name_.c_str());  // it is copied
  if (Call().SSL_ctrl(ssl_, openssl::kSetHostName, openssl::kHostName, name) == 1) {
    return Status::Ok();
  }
  return Status::Unknown("cannot begin TLS: " + openssl::TakeError());
}

Result<bool> Session::Step() {
  MutexLock lock(mutex_);
  if (!shaken_) {
    Call().ERR_clear_error();
    const int result = Call().SSL_do_handshake(ssl_);
    if (result == 1) {
      shaken_ = true;
      HVDX_RETURN_IF_ERROR(CheckBinding());
    } else if (Call().SSL_get_error(ssl_, result) != openssl::kWantRead) {
      Fail(Reason());
    }
  }
  socket_.Flush();  // a failed end, too, says why
  if (socket_.send_error != 0) Fail(ErrnoText(socket_.send_error));
  if (failure_.empty()) return shaken_ && socket_.flushed();
  const bool gone = socket_.closed || socket_.read_error != 0 || socket_.send_error != 0;
  return Status(gone ? StatusCode::kUnknown : StatusCode::kAborted, failure_);
}

// The name was sent in the clear, but both ends have signed for it by now.
Status Session::CheckBinding() {
  if (end_ == End::kConnector) return Status::Ok();
  const char* name = Call().SSL_get_servername(ssl_, openssl::kHostName);
  if (name != nullptr && name_ == name) return Status::Ok();
  Fail("TLS: it has begun another connection than this one");
  return Status::Aborted(failure_);
}

ssize_t Session::Send(std::span<const iovec> pieces) {
  MutexLock lock(mutex_);
  std::size_t taken = 0;
  std::size_t skip = 0;  // of the first piece
  while (true) {
    socket_.Flush();
    if (CannotSend() || !socket_.flushed()) break;
    while (!pieces.empty() && skip == pieces.front().iov_len) {
      pieces = pieces.subspan(1);
      skip = 0;
    }
    if (pieces.empty()) break;
    std::size_t moved = Encrypt(pieces, skip);
    taken += moved;
    for (; moved > 0 && skip + moved >= pieces.front().iov_len; skip = 0) {
      moved -= pieces.front().iov_len - skip;
      pieces = pieces.subspan(1);
    }
    skip += moved;
  }
  if (taken > 0) return static_cast<ssize_t>(taken);  // of a failure the next call tells
  errno = socket_.send_error != 0 ? socket_.send_error : failure_.empty() ? EAGAIN : EPROTO;
  return -1;
}

// Large pieces go as they are; small ones are put together, since each record costs.
std::size_t Session::Encrypt(std::span<const iovec> pieces, std::size_t skip) {
  const auto* first = static_cast<const std::byte*>(pieces.front().iov_base) + skip;
  const std::size_t size = pieces.front().iov_len - skip;
  if (size >= kRecordBytes || pieces.size() == 1) {
    const std::size_t some = std::min(size, kMostAtOnce);
    return EncryptPiece(first, some) ? some : 0;
  }
  std::size_t total = 0;
  for (const iovec& piece : pieces) {
    const std::size_t some = std::min(piece.iov_len - skip, small_.size() - total);
    if (some > 0) {
      std::memcpy(small_.data() + total, static_cast<const std::byte*>(piece.iov_base) + skip,
                  some);
    }
    total += some;
    skip = 0;
    if (total == small_.size()) break;
  }
  return EncryptPiece(small_.data(), total) ? total : 0;
}

bool Session::EncryptPiece(const void* data, std::size_t size) {
  Call().ERR_clear_error();
  if (records_ >= context_->records_per_key()) {
    if (Call().SSL_key_update(ssl_, openssl::kDoNotAnswerUpdate) != 1) {
      Fail(Reason());
      return false;
    }
    records_ = 0;
  }
  records_ += (size + kRecordBytes - 1) / kRecordBytes;
  // All or nothing: there is always room for what it writes.
  if (Call().SSL_write(ssl_, data, static_cast<int>(size)) == static_cast<int>(size)) return true;
  Fail(Reason());
  return false;
}

ssize_t Session::Receive(std::span<const iovec> pieces) {
  MutexLock lock(mutex_);
  std::size_t total = 0;
  holds_input_ = true;
  for (const iovec& piece : pieces) {
    std::size_t filled = 0;
    while (filled < piece.iov_len) {
      const int got = Decrypt(piece, filled);
      if (got > 0) {
        filled += static_cast<std::size_t>(got);
        total += static_cast<std::size_t>(got);
        continue;
      }
      if (total > 0) return static_cast<ssize_t>(total);
      if (got == 0) return 0;
      errno = failure_.empty() ? EAGAIN : EPROTO;
      return -1;
    }
  }
  holds_input_ = Call().SSL_has_pending(ssl_) == 1;
  return static_cast<ssize_t>(total);
}

// As recv: 0 at the end, -1 if there is nothing now, or for good.
int Session::Decrypt(const iovec& piece, std::size_t skip) {
  if (!failure_.empty()) return -1;
  constexpr std::size_t kMost = 1 << 30;
  Call().ERR_clear_error();
  const int got = Call().SSL_read(ssl_, static_cast<std::byte*>(piece.iov_base) + skip,
                                  static_cast<int>(std::min(piece.iov_len - skip, kMost)));
  if (got > 0) return got;
  const int why = Call().SSL_get_error(ssl_, got);
  if (why == openssl::kWantRead) {
    holds_input_ = false;  // the socket was empty; poll() tells when it is not
    return -1;
  }
  if (why == openssl::kClosed || socket_.closed) {
    Call().ERR_clear_error();
    return 0;
  }
  Fail(Reason());
  socket_.Flush();  // what OpenSSL has to say about it
  return -1;
}

std::string Session::failure() {
  MutexLock lock(mutex_);
  return failure_;
}

bool Session::holds_input() {
  MutexLock lock(mutex_);
  return holds_input_;
}

bool Session::holds_output() {
  MutexLock lock(mutex_);
  return !CannotSend() && !socket_.flushed();
}

void Session::Flush() {
  MutexLock lock(mutex_);
  socket_.Flush();
}

bool Session::BeginFlushing() {
  MutexLock lock(mutex_);
  if (flushing_ || CannotSend() || socket_.flushed()) return false;
  flushing_ = true;
  return true;
}

bool Session::FlushToTheEnd() {
  MutexLock lock(mutex_);
  socket_.Flush();
  if (!CannotSend() && !socket_.flushed()) return false;
  flushing_ = false;
  return true;
}

bool Session::CannotSend() const { return !failure_.empty() || socket_.send_error != 0; }

void Session::Fail(const std::string& why) {
  if (failure_.empty()) failure_ = why;
}

// Why the last call failed: by the socket if it was that, else by what OpenSSL says.
std::string Session::Reason() {
  const std::string said = openssl::TakeError();
  if (socket_.read_error != 0) return ErrnoText(socket_.read_error);
  return socket_.closed ? kClosedText : "TLS: " + said;
}

}  // namespace horovodx::tls

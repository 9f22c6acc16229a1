// Session: one end of a connection that is encrypted, over a socket of its own.
//
// First its handshake is stepped until done, then bytes go as over the socket, with the same
// results as sendmsg and readv. Two things differ from a socket, and whoever waits must know them:
//   - bytes may have arrived that poll() does not show: holds_input();
//   - Send takes bytes for good before the socket does: holds_output(). Somebody has to call Flush
//     when the socket has room, also if nothing more is to be sent.
// There is no farewell: a connection ends when the socket does, and that is a lost peer.
//
// Thread: any; calls follow each other by a lock.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "horovodx/base/fd.h"
#include "horovodx/base/mutex.h"
#include "horovodx/base/sha256.h"
#include "horovodx/base/status.h"
#include "horovodx/tls/context.h"
#include "horovodx/tls/socket_bio.h"

namespace horovodx::tls {

enum class End { kConnector, kAcceptor };

class Session {
 public:
  // `binding` is what both ends know of this connection and nobody can choose (the binding of the
  // handshake that came before): ends of two different connections do not fit together.
  static Result<std::shared_ptr<Session>> Make(std::shared_ptr<const Context> context, Fd socket,
                                               End end, const Digest& binding);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  int fd() const { return fd_; }

  // The handshake, as far as it goes now. True: done. kUnknown: the other end is gone; kAborted: it
  // cannot be trusted, or does not speak TLS.
  Result<bool> Step() HVDX_EXCLUDES(mutex_);

  // Bytes moved; -1 with errno, which is EPROTO where failure() says more; for Receive 0 at the
  // end. What came before the other end was gone can be read also after Send has failed.
  ssize_t Send(std::span<const iovec> pieces) HVDX_EXCLUDES(mutex_);
  ssize_t Receive(std::span<const iovec> pieces) HVDX_EXCLUDES(mutex_);
  // What is wrong with what the other end has sent; empty: nothing.
  std::string failure() HVDX_EXCLUDES(mutex_);

  bool holds_input() HVDX_EXCLUDES(mutex_);
  bool holds_output() HVDX_EXCLUDES(mutex_);
  void Flush() HVDX_EXCLUDES(mutex_);
  // For who flushes in the background: whether that has to begin, and whether it is over. True
  // again only after the other was.
  bool BeginFlushing() HVDX_EXCLUDES(mutex_);
  bool FlushToTheEnd() HVDX_EXCLUDES(mutex_);

 private:
  Session(std::shared_ptr<const Context> context, Fd socket, End end, std::string name);
  Status Open() HVDX_EXCLUDES(mutex_);
  Status CheckBinding() HVDX_REQUIRES(mutex_);
  std::size_t Encrypt(std::span<const iovec> pieces, std::size_t skip) HVDX_REQUIRES(mutex_);
  bool EncryptPiece(const void* data, std::size_t size) HVDX_REQUIRES(mutex_);
  int Decrypt(const iovec& piece, std::size_t skip) HVDX_REQUIRES(mutex_);
  bool CannotSend() const HVDX_REQUIRES(mutex_);
  void Fail(const std::string& why) HVDX_REQUIRES(mutex_);
  std::string Reason() HVDX_REQUIRES(mutex_);

  static constexpr std::size_t kRecordBytes = 16 * 1024;  // TLS has no larger ones

  const std::shared_ptr<const Context> context_;
  const End end_;
  const std::string name_;  // the binding, as a server name
  const int fd_;
  Mutex mutex_;
  SocketBio socket_ HVDX_GUARDED_BY(mutex_);
  openssl::Ssl* ssl_ HVDX_GUARDED_BY(mutex_) = nullptr;
  bool shaken_ HVDX_GUARDED_BY(mutex_) = false;
  bool holds_input_ HVDX_GUARDED_BY(mutex_) = true;    // with the handshake's end, data may come
  bool flushing_ HVDX_GUARDED_BY(mutex_) = false;      // in the background
  std::uint64_t records_ HVDX_GUARDED_BY(mutex_) = 0;  // sent under this key
  std::string failure_ HVDX_GUARDED_BY(mutex_);
  std::array<std::byte, kRecordBytes> small_ HVDX_GUARDED_BY(mutex_);  // pieces put together
};

}  // namespace horovodx::tls

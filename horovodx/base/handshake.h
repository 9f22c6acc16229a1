// Handshake: both ends of a fresh connection prove that they know the job's secret.
//
// Three messages of fixed size, acceptor first; nothing else is read before they are done:
//   acceptor -> connector  Challenge  its version and a random nonce
//   connector -> acceptor  Hello      who calls whom and what for, the job, its own nonce, and
//                                     HMAC-SHA256(secret, "connector", all of that and both nonces)
//   acceptor -> connector  Verdict    welcome, or why not; HMAC(secret, "acceptor", the same)
// base/README.md has the bytes. The acceptor proves nothing to strangers, each proof is good for
// one connection, one direction and one purpose, and a caller's claims are believed only after its
// proof.
//
// Handshake itself does no I/O: bytes in, bytes out. RunHandshake drives it on a socket.
// Thread: one at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "horovodx/base/bytes.h"
#include "horovodx/base/clock.h"
#include "horovodx/base/sha256.h"
#include "horovodx/base/status.h"

namespace horovodx {

inline constexpr std::uint16_t kHandshakeVersion = 1;
// How long an end may take for all of it before it is dropped.
inline constexpr Duration kHandshakeLimit = std::chrono::seconds(5);

// What every process of a job knows and nobody else does.
struct Credentials {
  std::string secret;  // random bytes
  std::string job_id;
};
// Refuses an empty secret: anybody would know it.
Status CheckCredentials(const Credentials& credentials);

enum class Purpose : std::uint8_t { kStore = 1, kCourier = 2, kLink = 3 };
constexpr unsigned MaskOf(Purpose purpose) { return 1u << static_cast<unsigned>(purpose); }

// What a connection is for. All of it is covered by the proofs.
struct Claims {
  Purpose purpose = Purpose::kStore;
  std::int32_t from = -1;  // rank of the connector, -1: not a rank
  std::int32_t to = -1;    // rank of the acceptor
  // Links only: which channel, and which of how many sockets of the link.
  std::uint32_t channel = 0;
  std::uint16_t stream = 0;
  std::uint16_t streams = 0;
  bool tls = false;  // what comes after the handshake is TLS
  bool operator==(const Claims&) const = default;
};

using Nonce = std::array<std::byte, 32>;
Result<Nonce> FreshNonce();

class Handshake {
 public:
  static constexpr std::size_t kChallengeBytes = 40;
  static constexpr std::size_t kHelloBytes = 136;
  static constexpr std::size_t kVerdictBytes = 40;

  // `peer` is how errors call the other end, e.g. "10.0.0.7:4711". The nonce must be fresh.
  static Handshake Connect(const Claims& claims, const Credentials& credentials, const Nonce& nonce,
                           std::string peer);
  // Takes calls for `rank` and the purposes in `accepts` (MaskOf, or-ed), all with TLS or all
  // without.
  static Handshake Accept(std::int32_t rank, unsigned accepts, const Credentials& credentials,
                          const Nonce& nonce, std::string peer, bool tls = false);

  // How many more bytes it reads now. Whoever reads the socket must not read more.
  std::size_t wanted() const { return settled_ ? 0 : expected_ - received_.size(); }
  // At most wanted() bytes.
  void Feed(ConstBytes bytes);
  // Bytes to send now, and how many of them went out.
  ConstBytes output() const { return ConstBytes(output_).subspan(sent_); }
  void Sent(std::size_t bytes) { sent_ += bytes; }
  // The other end closed or reset the connection; the time is up.
  void Closed();
  void TimedOut();

  // Nothing is left to do. A failed acceptor still has its verdict to send, if it can.
  bool finished() const { return settled_ && output().empty(); }
  // How it went, once settled: kAborted means that trying again would not help (another secret,
  // job, version...), kUnknown that the other end fell silent or closed.
  bool settled() const { return settled_; }
  const Status& status() const { return status_; }
  // What was agreed. On the acceptor's side: only after success.
  const Claims& claims() const { return claims_; }
  // After success: what only the two ends of this connection know, the same on both.
  Digest Binding() const;

 private:
  enum class Refusal : std::uint8_t;
  Handshake(bool connecting, const Credentials& credentials, const Nonce& nonce, std::string peer);

  void OnChallenge();
  void OnHello();
  void OnVerdict();
  Refusal Judge(const std::byte* hello);
  void SendVerdict(Refusal refusal);
  void GiveUp(const std::string& why);
  void Fail(const std::string& what, StatusCode code = StatusCode::kAborted);
  Digest ProofOf(const char* who, const Claims& claims, const Nonce& acceptor_nonce,
                 const Nonce& connector_nonce) const;

  bool connecting_;
  Credentials credentials_;
  Nonce nonce_;
  Nonce peer_nonce_{};
  std::string peer_;
  std::int32_t rank_ = -1;
  unsigned accepts_ = 0;
  bool tls_ = false;
  Claims claims_;

  std::size_t expected_;
  std::vector<std::byte> received_;
  std::vector<std::byte> output_;
  std::size_t sent_ = 0;
  bool settled_ = false;
  Status status_;
};

// Drives a handshake on a non-blocking socket until it is finished or the deadline passed, and
// returns how it went. Reads not one byte more than the handshake's own.
Status RunHandshake(int fd, Handshake& handshake, const Deadline& deadline);

// One step of the same for event loops: sends and reads what is possible now, without waiting.
void StepHandshake(int fd, Handshake& handshake);

}  // namespace horovodx

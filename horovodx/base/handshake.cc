#include "horovodx/base/handshake.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "horovodx/base/check.h"
#include "horovodx/base/hmac.h"
#include "horovodx/base/little_endian.h"
#include "horovodx/base/random.h"

namespace horovodx {

// In the verdict's bytes: numbers stay as they are.
enum class Handshake::Refusal : std::uint8_t {
  kNone = 0,
  kGarbage = 1,
  kVersion = 2,
  kReflection = 3,
  kReplay = 4,
  kJob = 5,
  kProof = 6,
  kPurpose = 7,
  kRank = 8,
  kTls = 9,
};

namespace {

constexpr std::array<std::byte, 4> kMagic = {std::byte{'H'}, std::byte{'V'}, std::byte{'D'},
                                             std::byte{'X'}};
constexpr std::size_t kJobTagBytes = 16;
constexpr std::size_t kClaimsBytes = 18;
// Where things are in a hello; README.md draws it.
constexpr std::size_t kClaimsAt = 6, kJobAt = 24, kEchoAt = 40, kNonceAt = 72, kProofAt = 104;

void PutHead(std::byte* to) {
  std::memcpy(to, kMagic.data(), kMagic.size());
  PutLittle(kHandshakeVersion, to + 4);
}

void PutClaims(const Claims& claims, std::byte* to) {
  to[0] = static_cast<std::byte>(claims.purpose);
  to[1] = static_cast<std::byte>(claims.tls);
  PutLittle(claims.from, to + 2);
  PutLittle(claims.to, to + 6);
  PutLittle(claims.channel, to + 10);
  PutLittle(claims.stream, to + 14);
  PutLittle(claims.streams, to + 16);
}

Claims GetClaims(const std::byte* from) {
  Claims claims;
  claims.purpose = static_cast<Purpose>(from[0]);
  claims.tls = from[1] == std::byte{1};
  claims.from = GetLittle<std::int32_t>(from + 2);
  claims.to = GetLittle<std::int32_t>(from + 6);
  claims.channel = GetLittle<std::uint32_t>(from + 10);
  claims.stream = GetLittle<std::uint16_t>(from + 14);
  claims.streams = GetLittle<std::uint16_t>(from + 16);
  return claims;
}

Digest JobDigest(const std::string& job_id) {
  return Sha256Of(BytesOf(job_id.data(), job_id.size()));
}

bool Same(const std::byte* a, const std::byte* b, std::size_t size) {
  return EqualInConstantTime({a, size}, {b, size});
}

std::string VersionText(const std::byte* head) {
  return "it speaks version " + std::to_string(GetLittle<std::uint16_t>(head + 4)) +
         " of the handshake, this is version " + std::to_string(kHandshakeVersion) +
         ": another version of HorovodX is installed there";
}

constexpr char kGarbageText[] = "it sent something that is not a HorovodX handshake";
constexpr char kReflectionText[] = "it sent our own challenge or proof back (reflection)";
// Who says "proof", and of what: the first bytes of what is proved.
constexpr char kConnector[] = "HVDX connector";
constexpr char kAcceptor[] = "HVDX acceptor";
constexpr char kBinding[] = "HVDX tls";
constexpr std::size_t kWhoBytes = 14;
constexpr char kProofText[] = "it does not know this job's secret";

}  // namespace

Status CheckCredentials(const Credentials& credentials) {
  if (!credentials.secret.empty()) return Status::Ok();
  return Status::InvalidArgument("the job's secret is empty: anybody could connect");
}

Result<Nonce> FreshNonce() {
  Nonce nonce;
  HVDX_RETURN_IF_ERROR(FillRandom(nonce));
  return nonce;
}

Handshake::Handshake(bool connecting, const Credentials& credentials, const Nonce& nonce,
                     std::string peer)
    : connecting_(connecting),
      credentials_(credentials),
      nonce_(nonce),
      peer_(std::move(peer)),
      expected_(connecting ? kChallengeBytes : kHelloBytes) {
  received_.reserve(kHelloBytes);
}

Handshake Handshake::Connect(const Claims& claims, const Credentials& credentials,
                             const Nonce& nonce, std::string peer) {
  Handshake handshake(true, credentials, nonce, std::move(peer));
  handshake.claims_ = claims;
  return handshake;
}

Handshake Handshake::Accept(std::int32_t rank, unsigned accepts, const Credentials& credentials,
                            const Nonce& nonce, std::string peer, bool tls) {
  Handshake handshake(false, credentials, nonce, std::move(peer));
  handshake.rank_ = rank;
  handshake.accepts_ = accepts;
  handshake.tls_ = tls;
  handshake.output_.resize(kChallengeBytes);
  PutHead(handshake.output_.data());
  std::memcpy(handshake.output_.data() + 8, nonce.data(), nonce.size());
  return handshake;
}

Digest Handshake::ProofOf(const char* who, const Claims& claims, const Nonce& acceptor_nonce,
                          const Nonce& connector_nonce) const {
  // Every part has a fixed size, so no two different sets of parts make the same message.
  std::vector<std::byte> message(kWhoBytes + 2);
  std::memcpy(message.data(), who, std::min(std::strlen(who), kWhoBytes));
  PutLittle(kHandshakeVersion, message.data() + kWhoBytes);
  std::array<std::byte, kClaimsBytes> packed;
  PutClaims(claims, packed.data());
  const auto append = [&](ConstBytes part) {
    message.insert(message.end(), part.begin(), part.end());
  };
  append(packed);
  append(JobDigest(credentials_.job_id));
  append(acceptor_nonce);
  append(connector_nonce);
  return HmacSha256(BytesOf(credentials_.secret.data(), credentials_.secret.size()), message);
}

Digest Handshake::Binding() const {
  return connecting_ ? ProofOf(kBinding, claims_, peer_nonce_, nonce_)
                     : ProofOf(kBinding, claims_, nonce_, peer_nonce_);
}

void Handshake::Feed(ConstBytes bytes) {
  HVDX_CHECK(bytes.size() <= wanted());
  received_.insert(received_.end(), bytes.begin(), bytes.end());
  // Garbage is known by its first bytes: no need to wait for more of it.
  const std::size_t seen = std::min(received_.size(), kMagic.size());
  if (!settled_ && !std::equal(kMagic.begin(), kMagic.begin() + seen, received_.begin())) {
    Fail(kGarbageText);
    if (!connecting_) SendVerdict(Refusal::kGarbage);
    return;
  }
  if (settled_ || received_.size() < expected_) return;
  if (!connecting_) {
    OnHello();
  } else if (output_.empty()) {
    OnChallenge();
  } else {
    OnVerdict();
  }
}

void Handshake::OnChallenge() {
  if (GetLittle<std::uint16_t>(received_.data() + 4) != kHandshakeVersion) {
    return Fail(VersionText(received_.data()));
  }
  if (GetLittle<std::uint16_t>(received_.data() + 6) != 0) return Fail(kGarbageText);
  std::memcpy(peer_nonce_.data(), received_.data() + 8, peer_nonce_.size());
  received_.clear();
  expected_ = kVerdictBytes;
  if (peer_nonce_ == nonce_) return Fail(kReflectionText);

  output_.resize(kHelloBytes);
  std::byte* hello = output_.data();
  PutHead(hello);
  PutClaims(claims_, hello + kClaimsAt);
  std::memcpy(hello + kJobAt, JobDigest(credentials_.job_id).data(), kJobTagBytes);
  std::memcpy(hello + kEchoAt, peer_nonce_.data(), peer_nonce_.size());
  std::memcpy(hello + kNonceAt, nonce_.data(), nonce_.size());
  const Digest proof = ProofOf(kConnector, claims_, peer_nonce_, nonce_);
  std::memcpy(hello + kProofAt, proof.data(), proof.size());
}

Handshake::Refusal Handshake::Judge(const std::byte* hello) {
  if (GetLittle<std::uint16_t>(hello + 4) != kHandshakeVersion) {
    Fail(VersionText(hello));
    return Refusal::kVersion;
  }
  std::memcpy(peer_nonce_.data(), hello + kNonceAt, peer_nonce_.size());
  if (peer_nonce_ == nonce_) {
    Fail(kReflectionText);
    return Refusal::kReflection;
  }
  if (!Same(hello + kEchoAt, nonce_.data(), nonce_.size())) {
    Fail("its hello answers another challenge than ours (replay)");
    return Refusal::kReplay;
  }
  if (!Same(hello + kJobAt, JobDigest(credentials_.job_id).data(), kJobTagBytes)) {
    Fail("it belongs to another job than '" + credentials_.job_id + "'");
    return Refusal::kJob;
  }
  const Claims claims = GetClaims(hello + kClaimsAt);
  const Digest proof = ProofOf(kConnector, claims, nonce_, peer_nonce_);
  if (hello[kClaimsAt + 1] > std::byte{1} || !Same(hello + kProofAt, proof.data(), proof.size())) {
    Fail(kProofText);
    return Refusal::kProof;
  }
  // From here on it is one of us.
  if (static_cast<unsigned>(claims.purpose) >= 32 || (accepts_ & MaskOf(claims.purpose)) == 0) {
    Fail("it came for purpose " + std::to_string(static_cast<int>(claims.purpose)) +
         ", which is not served here");
    return Refusal::kPurpose;
  }
  if (claims.to != rank_) {
    Fail("rank " + std::to_string(claims.from) + " looked for rank " + std::to_string(claims.to) +
         ", this is rank " + std::to_string(rank_));
    return Refusal::kRank;
  }
  if (claims.tls != tls_) {
    Fail("rank " + std::to_string(claims.from) + " came " + (tls_ ? "without" : "with") +
         " TLS: HOROVODX_TLS=1 is set " + (tls_ ? "here and not there" : "there and not here"));
    return Refusal::kTls;
  }
  claims_ = claims;
  return Refusal::kNone;
}

void Handshake::OnHello() { SendVerdict(Judge(received_.data())); }

void Handshake::SendVerdict(Refusal refusal) {
  const std::size_t at = output_.size();
  output_.resize(at + kVerdictBytes);  // after what may still be unsent of the challenge
  PutHead(output_.data() + at);
  output_[at + 6] = static_cast<std::byte>(refusal);
  if (refusal == Refusal::kNone) {
    const Digest proof = ProofOf(kAcceptor, claims_, nonce_, peer_nonce_);
    std::memcpy(output_.data() + at + 8, proof.data(), proof.size());
    settled_ = true;
  }
}

void Handshake::OnVerdict() {
  const std::byte* verdict = received_.data();
  if (GetLittle<std::uint16_t>(verdict + 4) != kHandshakeVersion) {
    return Fail(VersionText(verdict));
  }
  if (verdict[7] != std::byte{0}) return Fail(kGarbageText);
  switch (static_cast<Refusal>(verdict[6])) {
    case Refusal::kNone:
      break;
    case Refusal::kVersion:
      return Fail(
          "it refused us: it speaks another version of the handshake, so another version "
          "of HorovodX is installed there");
    case Refusal::kJob:
      return Fail("it refused us: it belongs to another job than '" + credentials_.job_id +
                  "', which HOROVODX_JOB_ID of this process names");
    case Refusal::kProof:
      return Fail(
          "it refused us: we do not know its job's secret: HOROVODX_SECRET of this process "
          "is not the one with which its job was started (set by hand, or another job's?)");
    case Refusal::kPurpose:
      return Fail("it refused us: it does not serve this purpose");
    case Refusal::kRank:
      return Fail("it refused us: it is not rank " + std::to_string(claims_.to));
    case Refusal::kTls:
      return Fail(std::string("it refused us: HOROVODX_TLS=1 is set ") +
                  (claims_.tls ? "here and not there" : "there and not here"));
    default:
      return Fail("it refused us: reason " + std::to_string(static_cast<int>(verdict[6])));
  }
  if (Same(verdict + 8, output_.data() + kProofAt, sizeof(Digest))) return Fail(kReflectionText);
  const Digest proof = ProofOf(kAcceptor, claims_, peer_nonce_, nonce_);
  if (!Same(verdict + 8, proof.data(), proof.size())) return Fail(kProofText);
  settled_ = true;
}

void Handshake::Closed() { GiveUp("it closed the connection after "); }

void Handshake::TimedOut() { GiveUp("it was silent for too long, after "); }

void Handshake::GiveUp(const std::string& why) {
  const bool unsent = !output().empty();
  sent_ = output_.size();  // nobody is there to take it
  if (settled_ && (!status_.ok() || !unsent)) return;
  Fail(why + std::to_string(received_.size()) + " of " + std::to_string(expected_) + " bytes",
       StatusCode::kUnknown);
}

void Handshake::Fail(const std::string& what, StatusCode code) {
  settled_ = true;
  status_ = Status(code, "no handshake with " + peer_ + ": " + what);
}

}  // namespace horovodx

#include "horovodx/tls/context.h"

#include <cstring>
#include <memory>
#include <vector>

#include "horovodx/base/hmac.h"
#include "horovodx/base/sha256.h"

namespace horovodx::tls {
namespace {

using openssl::Call;
using openssl::Certificate;
using openssl::Key;

// The first is the fastest where the processor has instructions for it.
constexpr char kCiphers[] =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
// One system call brings many records.
constexpr std::size_t kReadBufferBytes = 256 * 1024;
constexpr long kDay = 24 * 60 * 60;

struct Freer {
  void operator()(Key* key) const { Call().EVP_PKEY_free(key); }
  void operator()(Certificate* certificate) const { Call().X509_free(certificate); }
};
using KeyPtr = std::unique_ptr<Key, Freer>;
using CertificatePtr = std::unique_ptr<Certificate, Freer>;

Status Failed(const std::string& what) {
  return Status::Unknown("TLS: cannot " + what + ": " + openssl::TakeError());
}

KeyPtr KeyOf(const Credentials& credentials) {
  constexpr char kWhatFor[] = "HVDX tls certificate";
  const horovodx::Digest job =
      Sha256Of(BytesOf(credentials.job_id.data(), credentials.job_id.size()));
  std::vector<std::byte> message(sizeof(kWhatFor) + job.size());
  std::memcpy(message.data(), kWhatFor, sizeof(kWhatFor));
  std::memcpy(message.data() + sizeof(kWhatFor), job.data(), job.size());
  const horovodx::Digest seed =
      HmacSha256(BytesOf(credentials.secret.data(), credentials.secret.size()), message);
  return KeyPtr(Call().EVP_PKEY_new_raw_private_key(
      openssl::kEd25519, nullptr, reinterpret_cast<const unsigned char*>(seed.data()),
      seed.size()));
}

// Only its key counts; the rest is what a certificate must have.
bool FillIn(Certificate* certificate, Key* key) {
  constexpr unsigned char kName[] = "HorovodX job";
  openssl::CertificateName* name = Call().X509_get_subject_name(certificate);
  constexpr long kVersion3 = 2;
  return Call().X509_set_version(certificate, kVersion3) == 1 &&
         Call().ASN1_INTEGER_set(Call().X509_get_serialNumber(certificate), 1) == 1 &&
         Call().X509_gmtime_adj(Call().X509_getm_notBefore(certificate), -kDay) != nullptr &&
         Call().X509_gmtime_adj(Call().X509_getm_notAfter(certificate), 3650 * kDay) != nullptr &&
         Call().X509_NAME_add_entry_by_txt(name, "CN", openssl::kUtf8, kName, -1, -1, 0) == 1 &&
         Call().X509_set_issuer_name(certificate, name) == 1 &&
         Call().X509_set_pubkey(certificate, key) == 1 &&
         Call().X509_sign(certificate, key, nullptr) > 0;
}

}  // namespace

Result<std::shared_ptr<const Context>> Context::Make(const Credentials& credentials,
                                                     const ContextOptions& options) {
  HVDX_RETURN_IF_ERROR(CheckCredentials(credentials));
  HVDX_RETURN_IF_ERROR(openssl::Load(options.library).status());
  Call().ERR_clear_error();
  std::shared_ptr<Context> context(new Context(options.records_per_key));
  HVDX_RETURN_IF_ERROR(context->Configure());
  HVDX_RETURN_IF_ERROR(context->UseCertificate(credentials));
  return std::shared_ptr<const Context>(std::move(context));
}

Context::~Context() {
  if (context_ != nullptr) Call().SSL_CTX_free(context_);
}

Status Context::Configure() {
  context_ = Call().SSL_CTX_new(Call().TLS_method());
  if (context_ == nullptr) return Failed("be set up");
  const auto set = [this](int what, long value) {
    return Call().SSL_CTX_ctrl(context_, what, value, nullptr);
  };
  if (set(openssl::kSetLeastVersion, openssl::kTls13) != 1 ||
      set(openssl::kSetMostVersion, openssl::kTls13) != 1 ||
      Call().SSL_CTX_set_ciphersuites(context_, kCiphers) != 1 ||
      // No tickets: a connection carries nothing that nobody asked for, and none is resumed.
      Call().SSL_CTX_set_num_tickets(context_, 0) != 1) {
    return Failed("use TLS 1.3");
  }
  set(openssl::kSetSessionCacheMode, 0);
  set(openssl::kSetReadAhead, 1);
  Call().SSL_CTX_set_default_read_buffer_len(context_, kReadBufferBytes);
  Call().SSL_CTX_set_verify(context_, openssl::kVerifyPeer | openssl::kFailWithoutCertificate,
                            nullptr);
  Call().SSL_CTX_set_cert_verify_callback(context_, IsOurs, this);
  return Status::Ok();
}

Status Context::UseCertificate(const Credentials& credentials) {
  const KeyPtr key = KeyOf(credentials);
  std::size_t size = public_key_.size();
  if (key == nullptr ||
      Call().EVP_PKEY_get_raw_public_key(key.get(), public_key_.data(), &size) != 1) {
    return Failed("make the job's key");
  }
  const CertificatePtr certificate(Call().X509_new());
  if (certificate == nullptr || !FillIn(certificate.get(), key.get()) ||
      Call().SSL_CTX_use_certificate(context_, certificate.get()) != 1 ||
      Call().SSL_CTX_use_PrivateKey(context_, key.get()) != 1) {
    return Failed("make the job's certificate");
  }
  return Status::Ok();
}

// Not who has signed it counts, nor when: only the key, and that the other end signs with it, which
// OpenSSL checks next.
int Context::IsOurs(openssl::CertificateCheck* check, void* self) {
  const auto& ours = static_cast<const Context*>(self)->public_key_;
  const Certificate* shown = Call().X509_STORE_CTX_get0_cert(check);
  const Key* key = shown != nullptr ? Call().X509_get0_pubkey(shown) : nullptr;
  PublicKey theirs{};
  std::size_t size = theirs.size();
  if (key != nullptr && Call().EVP_PKEY_get_raw_public_key(key, theirs.data(), &size) == 1 &&
      size == ours.size() && theirs == ours) {
    return 1;
  }
  Call().X509_STORE_CTX_set_error(check, openssl::kUntrusted);
  return 0;
}

}  // namespace horovodx::tls

// Context: a job's certificate, and what its connections have in common.
//
// Every rank makes the same key (Ed25519) from the job's secret, and a certificate for it: nothing
// has to be handed round, and who shows that certificate and signs with its key knows the secret.
// Each end of a connection shows it and accepts no other. Keys that encrypt are made afresh for
// each connection (ECDHE): who learns the secret later cannot read what was recorded before.
//
// Thread: any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "horovodx/base/handshake.h"
#include "horovodx/base/status.h"
#include "horovodx/tls/openssl.h"

namespace horovodx::tls {

struct ContextOptions {
  std::string library;  // the libssl to use; empty: what openssl::Load finds
  // Records after which a sender changes its key. AES-GCM is good for 2^24 of them (RFC 8446, 5.5).
  std::uint64_t records_per_key = std::uint64_t{1} << 22;
};

class Context {
 public:
  // An error if there is no OpenSSL; it says what is missing.
  static Result<std::shared_ptr<const Context>> Make(const Credentials& credentials,
                                                     const ContextOptions& options);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  openssl::SslContext* get() const { return context_; }
  std::uint64_t records_per_key() const { return records_per_key_; }

 private:
  using PublicKey = std::array<unsigned char, 32>;
  explicit Context(std::uint64_t records_per_key) : records_per_key_(records_per_key) {}
  Status Configure();
  Status UseCertificate(const Credentials& credentials);
  static int IsOurs(openssl::CertificateCheck* check, void* self);

  openssl::SslContext* context_ = nullptr;
  std::uint64_t records_per_key_;
  PublicKey public_key_{};
};

}  // namespace horovodx::tls

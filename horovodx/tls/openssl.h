// OpenSSL as its binary interface has it, in our own words: no header of it is needed to build.
//
// OpenSSL promises that these names, arguments and numbers stay as they are within libssl.so.3, and
// they are the same in libssl.so.1.1 from version 1.1.1 on. tests/horovodx/tls/openssl_test.cc
// compares the numbers with its headers where there are some.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "horovodx/base/status.h"

namespace horovodx::tls::openssl {

// Theirs; never looked into.
struct Ssl;
struct SslContext;
struct SslMethod;
struct Bio;
struct BioMethod;
struct Key;
struct Certificate;
struct CertificateName;
struct CertificateCheck;  // X509_STORE_CTX
struct Integer;
struct Time;
struct Digest;

inline constexpr std::uint64_t kInitNoAtExit = 0x00080000;
inline constexpr int kTls13 = 0x0304;
// SSL_CTX_ctrl, SSL_ctrl
inline constexpr int kSetReadAhead = 41;
inline constexpr int kSetSessionCacheMode = 44;
inline constexpr int kSetHostName = 55;
inline constexpr int kSetLeastVersion = 123;
inline constexpr int kSetMostVersion = 124;
inline constexpr int kHostName = 0;
// SSL_CTX_set_verify
inline constexpr int kVerifyPeer = 1;
inline constexpr int kFailWithoutCertificate = 2;
inline constexpr int kUntrusted = 27;
// SSL_get_error
inline constexpr int kWantRead = 2;
inline constexpr int kClosed = 6;
inline constexpr int kDoNotAnswerUpdate = 0;
// BIO
inline constexpr int kSourceOrSink = 0x0400;
inline constexpr int kRetryFlags = 0x0f;
inline constexpr int kRetryRead = 0x01 | 0x08;
inline constexpr int kControlEnd = 2;
inline constexpr int kControlFlush = 11;
inline constexpr int kEd25519 = 1087;
inline constexpr int kUtf8 = 0x1000;  // MBSTRING_UTF8

// Everything that is called: name, result, arguments.
#define HVDX_OPENSSL_CALLS(X)                                                            \
  X(OpenSSL_version, const char*, (int))                                                 \
  X(OPENSSL_init_ssl, int, (std::uint64_t, const void*))                                 \
  X(ERR_clear_error, void, ())                                                           \
  X(ERR_get_error, unsigned long, ())                                                    \
  X(ERR_reason_error_string, const char*, (unsigned long))                               \
  X(TLS_method, const SslMethod*, ())                                                    \
  X(SSL_CTX_new, SslContext*, (const SslMethod*))                                        \
  X(SSL_CTX_free, void, (SslContext*))                                                   \
  X(SSL_CTX_ctrl, long, (SslContext*, int, long, void*))                                 \
  X(SSL_CTX_set_ciphersuites, int, (SslContext*, const char*))                           \
  X(SSL_CTX_set_num_tickets, int, (SslContext*, std::size_t))                            \
  X(SSL_CTX_set_default_read_buffer_len, void, (SslContext*, std::size_t))               \
  X(SSL_CTX_use_certificate, int, (SslContext*, Certificate*))                           \
  X(SSL_CTX_use_PrivateKey, int, (SslContext*, Key*))                                    \
  X(SSL_CTX_set_verify, void, (SslContext*, int, int (*)(int, CertificateCheck*)))       \
  X(SSL_CTX_set_cert_verify_callback, void,                                              \
    (SslContext*, int (*)(CertificateCheck*, void*), void*))                             \
  X(SSL_new, Ssl*, (SslContext*))                                                        \
  X(SSL_free, void, (Ssl*))                                                              \
  X(SSL_set_bio, void, (Ssl*, Bio*, Bio*))                                               \
  X(SSL_set_connect_state, void, (Ssl*))                                                 \
  X(SSL_set_accept_state, void, (Ssl*))                                                  \
  X(SSL_ctrl, long, (Ssl*, int, long, void*))                                            \
  X(SSL_get_servername, const char*, (const Ssl*, int))                                  \
  X(SSL_do_handshake, int, (Ssl*))                                                       \
  X(SSL_read, int, (Ssl*, void*, int))                                                   \
  X(SSL_write, int, (Ssl*, const void*, int))                                            \
  X(SSL_has_pending, int, (const Ssl*))                                                  \
  X(SSL_key_update, int, (Ssl*, int))                                                    \
  X(SSL_get_error, int, (const Ssl*, int))                                               \
  X(BIO_get_new_index, int, ())                                                          \
  X(BIO_meth_new, BioMethod*, (int, const char*))                                        \
  X(BIO_meth_set_read, int, (BioMethod*, int (*)(Bio*, char*, int)))                     \
  X(BIO_meth_set_write, int, (BioMethod*, int (*)(Bio*, const char*, int)))              \
  X(BIO_meth_set_ctrl, int, (BioMethod*, long (*)(Bio*, int, long, void*)))              \
  X(BIO_new, Bio*, (const BioMethod*))                                                   \
  X(BIO_set_data, void, (Bio*, void*))                                                   \
  X(BIO_get_data, void*, (Bio*))                                                         \
  X(BIO_set_init, void, (Bio*, int))                                                     \
  X(BIO_set_flags, void, (Bio*, int))                                                    \
  X(BIO_clear_flags, void, (Bio*, int))                                                  \
  X(EVP_PKEY_new_raw_private_key, Key*, (int, void*, const unsigned char*, std::size_t)) \
  X(EVP_PKEY_get_raw_public_key, int, (const Key*, unsigned char*, std::size_t*))        \
  X(EVP_PKEY_free, void, (Key*))                                                         \
  X(X509_new, Certificate*, ())                                                          \
  X(X509_free, void, (Certificate*))                                                     \
  X(X509_set_version, int, (Certificate*, long))                                         \
  X(X509_get_serialNumber, Integer*, (Certificate*))                                     \
  X(ASN1_INTEGER_set, int, (Integer*, long))                                             \
  X(X509_getm_notBefore, Time*, (const Certificate*))                                    \
  X(X509_getm_notAfter, Time*, (const Certificate*))                                     \
  X(X509_gmtime_adj, Time*, (Time*, long))                                               \
  X(X509_get_subject_name, CertificateName*, (const Certificate*))                       \
  X(X509_NAME_add_entry_by_txt, int,                                                     \
    (CertificateName*, const char*, int, const unsigned char*, int, int, int))           \
  X(X509_set_issuer_name, int, (Certificate*, const CertificateName*))                   \
  X(X509_set_pubkey, int, (Certificate*, Key*))                                          \
  X(X509_sign, int, (Certificate*, Key*, const Digest*))                                 \
  X(X509_get0_pubkey, Key*, (const Certificate*))                                        \
  X(X509_STORE_CTX_get0_cert, Certificate*, (const CertificateCheck*))                   \
  X(X509_STORE_CTX_set_error, void, (CertificateCheck*, int))

struct Calls {
#define HVDX_DECLARE_CALL(name, result, arguments) result(*name) arguments = nullptr;
  HVDX_OPENSSL_CALLS(HVDX_DECLARE_CALL)
#undef HVDX_DECLARE_CALL
};

// Opens libssl once a process, for good: `given` if it is not empty, else the one that is in the
// process already (Python's ssl), the system's, or one beside Python. An error says what was tried.
// Any thread. What was opened first stays: `given` counts no more.
Result<const Calls*> Load(const std::string& given);
// What Load has opened.
const Calls& Call();

// The reason of this thread's oldest error, "bad record mac"; forgets all of them.
std::string TakeError();

}  // namespace horovodx::tls::openssl

// What openssl.h says of OpenSSL's binary interface, compared with its own headers.
#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <type_traits>

#include "horovodx/tls/openssl.h"

namespace horovodx::tls::openssl {
namespace {

static_assert(kInitNoAtExit == OPENSSL_INIT_NO_ATEXIT && kTls13 == TLS1_3_VERSION);
static_assert(kSetReadAhead == SSL_CTRL_SET_READ_AHEAD);
static_assert(kSetSessionCacheMode == SSL_CTRL_SET_SESS_CACHE_MODE && SSL_SESS_CACHE_OFF == 0);
static_assert(kSetHostName == SSL_CTRL_SET_TLSEXT_HOSTNAME);
static_assert(kSetLeastVersion == SSL_CTRL_SET_MIN_PROTO_VERSION);
static_assert(kSetMostVersion == SSL_CTRL_SET_MAX_PROTO_VERSION);
static_assert(kHostName == TLSEXT_NAMETYPE_host_name);
static_assert(kVerifyPeer == SSL_VERIFY_PEER);
static_assert(kFailWithoutCertificate == SSL_VERIFY_FAIL_IF_NO_PEER_CERT);
static_assert(kUntrusted == X509_V_ERR_CERT_UNTRUSTED);
static_assert(kWantRead == SSL_ERROR_WANT_READ && kClosed == SSL_ERROR_ZERO_RETURN);
static_assert(kDoNotAnswerUpdate == SSL_KEY_UPDATE_NOT_REQUESTED);
static_assert(kSourceOrSink == BIO_TYPE_SOURCE_SINK);
static_assert(kRetryFlags == (BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY));
static_assert(kRetryRead == (BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY));
static_assert(kControlEnd == BIO_CTRL_EOF && kControlFlush == BIO_CTRL_FLUSH);
static_assert(kEd25519 == EVP_PKEY_ED25519 && kUtf8 == MBSTRING_UTF8);

// As many arguments, each as wide, in the same registers: all that a binary interface is.
template <typename A, typename B>
constexpr bool kAlike = sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;
template <typename Ours, typename Theirs>
struct SameShape : std::false_type {};
template <typename R1, typename... A1, typename R2, typename... A2>
struct SameShape<R1 (*)(A1...), R2 (*)(A2...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(A1) != sizeof...(A2)) {
      return false;
    } else if constexpr (std::is_void_v<R1> || std::is_void_v<R2>) {
      return std::is_void_v<R1> && std::is_void_v<R2> && (kAlike<A1, A2> && ...);
    } else {
      return kAlike<R1, R2> && (kAlike<A1, A2> && ...);
    }
  }();
};

#define HVDX_COMPARE_CALL(name, result, arguments) \
  static_assert(SameShape<decltype(Calls::name), decltype(&::name)>::value, #name);
HVDX_OPENSSL_CALLS(HVDX_COMPARE_CALL)
#undef HVDX_COMPARE_CALL

TEST(OpenSslHeaderTest, NumbersAndShapesAreTheHeaders) {}  // the compiler has compared them

}  // namespace
}  // namespace horovodx::tls::openssl

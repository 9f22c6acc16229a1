#include "horovodx/tls/socket_bio.h"

#include <sys/socket.h>

#include <cerrno>

namespace horovodx::tls {
namespace {

using openssl::Bio;
using openssl::Call;

SocketBio& Of(Bio* bio) { return *static_cast<SocketBio*>(Call().BIO_get_data(bio)); }

int WriteTo(Bio* bio, const char* data, int size) {
  SocketBio& socket = Of(bio);
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  socket.out.insert(socket.out.end(), bytes, bytes + size);
  return size;
}

int ReadFrom(Bio* bio, char* data, int size) {
  SocketBio& socket = Of(bio);
  Call().BIO_clear_flags(bio, openssl::kRetryFlags);
  while (true) {
    const ssize_t got = ::recv(socket.fd.get(), data, static_cast<std::size_t>(size), MSG_DONTWAIT);
    if (got > 0) return static_cast<int>(got);
    if (got == 0) {
      socket.closed = true;
      return 0;
    }
    if (errno == EINTR) continue;
    if (errno == EAGAIN) {
      Call().BIO_set_flags(bio, openssl::kRetryRead);
    } else {
      socket.read_error = errno;
    }
    return -1;
  }
}

long Control(Bio* bio, int what, long, void*) {
  if (what == openssl::kControlFlush) return 1;  // later, by us
  if (what == openssl::kControlEnd) return Of(bio).closed ? 1 : 0;
  return 0;
}

openssl::BioMethod* Method() {
  static openssl::BioMethod* method = [] {
    const int index = Call().BIO_get_new_index() | openssl::kSourceOrSink;
    openssl::BioMethod* made = Call().BIO_meth_new(index, "HorovodX socket");
    if (made == nullptr) return made;
    Call().BIO_meth_set_write(made, WriteTo);
    Call().BIO_meth_set_read(made, ReadFrom);
    Call().BIO_meth_set_ctrl(made, Control);
    return made;
  }();
  return method;
}

}  // namespace

Bio* SocketBio::NewBio() {
  Bio* bio = Method() != nullptr ? Call().BIO_new(Method()) : nullptr;
  if (bio == nullptr) return nullptr;
  Call().BIO_set_data(bio, this);
  Call().BIO_set_init(bio, 1);
  return bio;
}

void SocketBio::Flush() {
  while (!flushed() && send_error == 0) {
    const ssize_t moved =
        ::send(fd.get(), out.data() + sent, out.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (moved >= 0) {
      sent += static_cast<std::size_t>(moved);
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      send_error = errno;
    }
  }
  if (!flushed()) return;
  out.clear();
  sent = 0;
}

}  // namespace horovodx::tls

#include "horovodx/base/random.h"

#include <sys/random.h>

#include <cerrno>
#include <system_error>

namespace horovodx {

Status FillRandom(MutableBytes bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::getrandom(bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return Status::Unknown("no random bytes from the kernel: " +
                             std::generic_category().message(errno));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return Status::Ok();
}

}  // namespace horovodx

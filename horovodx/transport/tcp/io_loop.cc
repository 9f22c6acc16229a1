#include "horovodx/transport/tcp/io_loop.h"

#include <sys/epoll.h>

#include <cerrno>
#include <utility>

#include "horovodx/base/socket.h"

namespace horovodx::transport::tcp {

Result<std::unique_ptr<IoLoop>> IoLoop::Start(Bell bell) {
  HVDX_ASSIGN_OR_RETURN(std::unique_ptr<EventLoop> loop, EventLoop::Start());
  Fd watched(::epoll_create1(EPOLL_CLOEXEC));
  if (!watched.valid()) return Status::Unknown("cannot make a poll set: " + ErrnoText(errno));
  std::unique_ptr<IoLoop> io(new IoLoop(bell, std::move(loop), std::move(watched)));
  Status status;
  io->loop().Run([&] {
    const int set = io->watched_.get();
    status = io->loop().Add(set, EPOLLIN, [set, links = bell.OfLinks()](auto) {
      // Taking the events disarms them; what they were does not matter, the sleeper looks itself.
      epoll_event events[64];
      if (::epoll_wait(set, events, 64, 0) > 0) links.Ring();
    });
  });
  HVDX_RETURN_IF_ERROR(status);
  return io;
}

IoLoop::IoLoop(Bell bell, std::unique_ptr<EventLoop> loop, Fd watched)
    : bell_(bell), watched_(std::move(watched)), loop_(std::move(loop)) {}

IoLoop::~IoLoop() {
  loop_->Run([this] { loop_->Remove(watched_.get()); });
}

void IoLoop::RingWhenReady(int fd, bool for_write) {
  epoll_event event{};
  event.events = EPOLLONESHOT | (for_write ? EPOLLOUT : EPOLLIN | EPOLLRDHUP);
  event.data.fd = fd;
  if (::epoll_ctl(watched_.get(), EPOLL_CTL_MOD, fd, &event) == 0) return;
  if (errno == ENOENT && ::epoll_ctl(watched_.get(), EPOLL_CTL_ADD, fd, &event) == 0) return;
  bell_.OfLinks().Ring();  // cannot be watched: at least nobody sleeps through it
}

}  // namespace horovodx::transport::tcp

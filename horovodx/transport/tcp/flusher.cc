#include "horovodx/transport/tcp/flusher.h"

#include <sys/epoll.h>

#include "horovodx/base/check.h"

namespace horovodx::transport::tcp {

Flusher::~Flusher() {
  const Deadline deadline = Deadline::After(kPatience);
  {
    MutexLock lock(mutex_);
    while (under_way_ > 0 && changed_.WaitUntil(mutex_, deadline.at())) {
    }
  }
  loop_.Run([this] {
    for (const auto& [fd, session] : watched_) loop_.Remove(fd);
  });
}

void Flusher::See(const Connection& connection) {
  const std::shared_ptr<tls::Session>& session = connection.session();
  if (session == nullptr || !session->BeginFlushing()) return;
  {
    MutexLock lock(mutex_);
    ++under_way_;
  }
  loop_.Post([this, session] { WatchOnLoop(session); });
}

void Flusher::WatchOnLoop(const std::shared_ptr<tls::Session>& session) {
  HVDX_DCHECK(loop_.OnLoop());
  if (session->FlushToTheEnd()) return OneLess();  // somebody has, meanwhile
  const Status added =
      loop_.Add(session->fd(), EPOLLOUT, [this, session](auto) { FlushOnLoop(session); });
  if (!added.ok()) return OneLess();  // out of memory; its owner may still come back
  watched_.emplace(session->fd(), session);
}

void Flusher::FlushOnLoop(const std::shared_ptr<tls::Session>& session) {
  HVDX_DCHECK(loop_.OnLoop());
  if (!session->FlushToTheEnd()) return;
  loop_.Remove(session->fd());
  watched_.erase(session->fd());
  OneLess();
}

void Flusher::OneLess() {
  MutexLock lock(mutex_);
  --under_way_;
  changed_.NotifyAll();
}

}  // namespace horovodx::transport::tcp

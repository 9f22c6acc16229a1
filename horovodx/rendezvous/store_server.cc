#include "horovodx/rendezvous/store_server.h"

#include <sys/epoll.h>

#include <algorithm>
#include <utility>

#include "horovodx/base/check.h"
#include "horovodx/base/log.h"
#include "horovodx/rendezvous/store_protocol.h"

namespace horovodx::rendezvous {

Result<std::unique_ptr<StoreServer>> StoreServer::Start(const std::string& address,
                                                        std::uint16_t port,
                                                        const std::string& secret,
                                                        const std::string& job_id) {
  std::unique_ptr<StoreServer> server(new StoreServer());
  HVDX_ASSIGN_OR_RETURN(server->loop_, EventLoop::Start());
  DoormanOptions options;
  options.where = {address, port};
  options.credentials = {secret, job_id};
  options.accepts = MaskOf(Purpose::kStore);
  const auto admit = [self = server.get()](Guest guest) { self->AdmitOnLoop(std::move(guest)); };
  HVDX_ASSIGN_OR_RETURN(server->doorman_, Doorman::Open(*server->loop_, options, admit));
  return server;
}

StoreServer::~StoreServer() {
  doorman_.reset();
  if (loop_ == nullptr) return;
  loop_->Run([this] {
    while (!clients_.empty()) DropOnLoop(clients_.begin()->first);
  });
}

void StoreServer::AdmitOnLoop(Guest guest) {
  HVDX_DCHECK(loop_->OnLoop());
  const Number number = next_++;
  ProbeWhenIdle(guest.fd.get());
  const int fd = guest.fd.get();
  clients_.emplace(number, Client{std::move(guest.fd), FrameParser(kMostRequestBytes), {}, {}});
  const Status added = loop_->Add(
      fd, EPOLLIN, [this, number](std::uint32_t events) { ServeOnLoop(number, events); });
  if (!added.ok()) {
    HVDX_LOG(kWarning) << "rendezvous: dropped " << guest.address.ToString() << ": "
                       << added.message();
    DropOnLoop(number);
  }
}

void StoreServer::ServeOnLoop(Number number, std::uint32_t events) {
  HVDX_DCHECK(loop_->OnLoop());
  if ((events & EPOLLOUT) != 0) FlushOnLoop(number);
  const auto it = clients_.find(number);
  if (it == clients_.end()) return;
  std::vector<Frame> requests;
  const Status status = ReadFrames(it->second.fd.get(), it->second.in, &requests).status();
  for (const Frame& request : requests) {
    const Status handled = HandleOnLoop(number, request);
    if (!handled.ok()) {
      HVDX_LOG(kWarning) << handled.message() << "; dropped it";
      return DropOnLoop(number);
    }
    if (clients_.count(number) == 0) return;
  }
  if (!status.ok()) DropOnLoop(number);
}

Status StoreServer::HandleOnLoop(Number number, const Frame& request) {
  HVDX_DCHECK(loop_->OnLoop());
  const Client& client = clients_.at(number);
  if (client.parked || !client.out.empty()) {
    return Status::Unknown("rendezvous: a client sent a request before the last was answered");
  }
  HVDX_ASSIGN_OR_RETURN(const StoreRequest asked, DecodeStoreRequest(request));
  if (asked.tag == StoreTag::kSet) {
    SetOnLoop(number, asked);
  } else if (asked.tag == StoreTag::kGet) {
    GetOnLoop(number, asked);
  } else {
    ForgetOnLoop(number, asked);
  }
  return Status::Ok();
}

void StoreServer::SetOnLoop(Number number, const StoreRequest& request) {
  HVDX_DCHECK(loop_->OnLoop());
  values_[request.key] = request.value;
  AnswerOnLoop(clients_.at(number), static_cast<std::uint32_t>(StoreTag::kDone), "");
  FlushOnLoop(number);
  const auto waiting = waiters_.extract(request.key);
  if (waiting.empty()) return;
  for (const Number waiter : waiting.mapped()) {
    Client& client = clients_.at(waiter);
    client.parked = false;
    loop_->Cancel(client.timer);
    AnswerOnLoop(client, static_cast<std::uint32_t>(StoreTag::kValue), request.value);
    FlushOnLoop(waiter);
  }
}

void StoreServer::GetOnLoop(Number number, const StoreRequest& request) {
  HVDX_DCHECK(loop_->OnLoop());
  Client& client = clients_.at(number);
  if (const auto it = values_.find(request.key); it != values_.end()) {
    AnswerOnLoop(client, static_cast<std::uint32_t>(StoreTag::kValue), it->second);
    return FlushOnLoop(number);
  }
  client.parked = true;
  client.waits_for = request.key;
  waiters_[request.key].push_back(number);
  client.timer = loop_->At(Clock::now() + request.patience, [this, number] {
    Client& waiter = clients_.at(number);
    UnparkOnLoop(waiter);
    AnswerOnLoop(waiter, static_cast<std::uint32_t>(StoreTag::kAbsent), "");
    FlushOnLoop(number);
  });
}

void StoreServer::ForgetOnLoop(Number number, const StoreRequest& request) {
  HVDX_DCHECK(loop_->OnLoop());
  std::erase_if(values_, [&](const auto& each) { return each.first.starts_with(request.key); });
  AnswerOnLoop(clients_.at(number), static_cast<std::uint32_t>(StoreTag::kDone), "");
  FlushOnLoop(number);
}

void StoreServer::AnswerOnLoop(Client& client, std::uint32_t tag, const std::string& value) {
  const ConstBytes bytes = BytesOf(value.data(), value.size());
  client.out.Push(tag, {bytes.begin(), bytes.end()});
}

void StoreServer::FlushOnLoop(Number number) {
  HVDX_DCHECK(loop_->OnLoop());
  Client& client = clients_.at(number);
  // An error here comes up again when the loop reports the descriptor.
  const Status sent = client.out.SendSome(client.fd.get());
  const bool more = sent.ok() && !client.out.empty();
  loop_->Change(client.fd.get(), more ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

void StoreServer::UnparkOnLoop(Client& client) {
  HVDX_DCHECK(loop_->OnLoop());
  if (!client.parked) return;
  client.parked = false;
  loop_->Cancel(client.timer);
  const auto it = waiters_.find(client.waits_for);
  std::erase_if(it->second, [&](Number each) { return &clients_.at(each) == &client; });
  if (it->second.empty()) waiters_.erase(it);
}

void StoreServer::DropOnLoop(Number number) {
  HVDX_DCHECK(loop_->OnLoop());
  Client& client = clients_.at(number);
  UnparkOnLoop(client);
  loop_->Remove(client.fd.get());
  clients_.erase(number);
}

}  // namespace horovodx::rendezvous

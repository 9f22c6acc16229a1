// StoreServer: the store of a job whose ranks are processes. Whoever launches the job runs one.
//
// One thread of its own serves everybody. Only connections that prove the job's secret are listened
// to; anything else is dropped without disturbing the others.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "horovodx/base/doorman.h"
#include "horovodx/base/event_loop.h"
#include "horovodx/base/frame.h"
#include "horovodx/base/status.h"
#include "horovodx/rendezvous/store_request.h"

namespace horovodx::rendezvous {

class StoreServer {
 public:
  // Listens on one address of this machine; port 0 takes any free one.
  static Result<std::unique_ptr<StoreServer>> Start(const std::string& address, std::uint16_t port,
                                                    const std::string& secret,
                                                    const std::string& job_id);
  // Ends the thread and closes all connections: waiting clients see an error.
  ~StoreServer();

  std::uint16_t port() const { return doorman_->address().port; }
  const Address& address() const { return doorman_->address(); }

 private:
  using Number = std::uint64_t;
  // A client has at most one request at a time.
  struct Client {
    Fd fd;
    FrameParser in;
    FrameQueue out;
    std::string waits_for;  // the key it is parked on, if `parked`
    bool parked = false;
    EventLoop::TimerId timer{};
  };

  StoreServer() = default;
  void AdmitOnLoop(Guest guest);
  void ServeOnLoop(Number number, std::uint32_t events);
  Status HandleOnLoop(Number number, const Frame& request);
  void SetOnLoop(Number number, const StoreRequest& request);
  void GetOnLoop(Number number, const StoreRequest& request);
  void ForgetOnLoop(Number number, const StoreRequest& request);
  void AnswerOnLoop(Client& client, std::uint32_t tag, const std::string& value);
  void FlushOnLoop(Number number);
  void UnparkOnLoop(Client& client);
  void DropOnLoop(Number number);

  std::unique_ptr<EventLoop> loop_;
  std::map<std::string, std::string> values_;
  std::map<Number, Client> clients_;
  std::map<std::string, std::vector<Number>> waiters_;
  Number next_ = 0;
  std::unique_ptr<Doorman> doorman_;
};

}  // namespace horovodx::rendezvous

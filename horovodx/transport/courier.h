// Courier: small control messages between this rank and its neighbours in the control tree.
//
// The tree: every rank is connected with the first rank of its host, those with rank 0. The courier
// knows nothing of what it carries. It also watches: a neighbour whose connection ends, or who has
// been silent for the heartbeat limit, is reported once.
#pragma once

#include <cstddef>
#include <vector>

#include "horovodx/base/status.h"

namespace horovodx::transport {

struct Delivery {
  int from = -1;
  std::vector<std::byte> message;
  Status lost;  // not ok: neighbour `from` is gone, and why; there is no message
};

class Courier {
 public:
  virtual ~Courier() = default;
  // Queues a message. Any thread; never waits. Messages to one neighbour arrive in order, or not at
  // all if it is lost.
  virtual void Send(int to, std::vector<std::byte> message) = 0;
  // Everything that has arrived, in order of arrival. Arrivals ring the engine's bell.
  virtual std::vector<Delivery> Receive() = 0;
  // True when Receive would return something: one atomic load.
  virtual bool HasMail() const = 0;
  // After this a closing neighbour is no news: nothing more is reported as lost.
  virtual void ExpectGoodbyes() = 0;
  // Waits until everything queued has left this process, at most until `seconds` passed.
  virtual void Flush(double seconds) = 0;
};

}  // namespace horovodx::transport

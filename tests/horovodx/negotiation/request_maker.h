// Short requests for tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "horovodx/base/clock.h"
#include "horovodx/negotiation/message.h"
#include "horovodx/negotiation/validate.h"

namespace horovodx::negotiation {

inline Request MakeRequest(std::string name, Kind kind = Kind::kAllreduce,
                           std::vector<std::int64_t> shape = {4, 2}) {
  Request request;
  request.kind = kind;
  request.name = std::move(name);
  request.shape = std::move(shape);
  if (kind == Kind::kBroadcast) request.root = 0;
  return request;
}

inline Requests Shared(const std::vector<Request>& requests) {
  Requests shared;
  for (const Request& r : requests) shared.push_back(std::make_shared<const Request>(r));
  return shared;
}

inline TimePoint AtSecond(double seconds) {
  return TimePoint() + std::chrono::hours(1) + Seconds(seconds);
}

}  // namespace horovodx::negotiation

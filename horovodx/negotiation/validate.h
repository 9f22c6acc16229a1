// Do the members' requests for one name fit together? Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "horovodx/negotiation/message.h"

namespace horovodx::negotiation {

// Requests of one name by set rank; null: this member has joined and asks for nothing. Equal
// requests may share one object. Owned together with the response cache and the plan watcher,
// whichever lives longest.
using Requests = std::vector<std::shared_ptr<const Request>>;

struct ValidateOptions {
  std::vector<std::int32_t> ranks;  // global rank of every member
  std::uint64_t fusion_threshold = 128u << 20;
};

// The bucket of this one tensor, or a bucket of kind kError saying what does not fit: the first
// failure in Horovod's order of checks. At least one request is not null.
Bucket Validate(const Requests& requests, const ValidateOptions& options);

}  // namespace horovodx::negotiation

// How the members of one host come to share a segment.
//
// The first makes it and publishes a ticket; the others open it; all agree whether all have it. A
// memfd is tried first, then a file in /dev/shm. Everyone leaves with the same outcome: a segment,
// or the same reason why this host can have none.
//
// Thread: the caller's; blocks until all have answered or the deadline.
#pragma once

#include <optional>
#include <string>

#include "horovodx/base/clock.h"
#include "horovodx/base/status.h"
#include "horovodx/transport/agreement.h"
#include "horovodx/transport/shm/segment.h"

namespace horovodx::transport::shm {

// Which kinds this process is willing to make or open.
struct ShareOptions {
  bool unnamed = true;
  bool named = true;
};

struct Shared {
  std::optional<Segment> segment;
  std::string why_not;  // when there is no segment
};

// An error (and not why_not) only when the members could not even talk: the store failed, or
// somebody did not come, who is named.
[[nodiscard]] Result<Shared> ShareSegment(const Council& council, const Shape& shape,
                                          const ShareOptions& options, const Deadline& deadline);

}  // namespace horovodx::transport::shm

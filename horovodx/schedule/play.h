// Plays a cut through: when each bucket leaves and when it has arrived. Pure.
#pragma once

#include <vector>

#include "horovodx/schedule/cut.h"

namespace horovodx::schedule {

struct Played {
  int last = -1;       // the tensor it waited for; of several the first
  double ready = 0.0;  // when that one was there
  double start = 0.0;  // then, or when the bucket before it had arrived
  double end = 0.0;    // start + what the collective takes
  std::uint64_t bytes = 0;
};

// One collective at a time, in the order of the buckets. O(n).
std::vector<Played> Play(const std::vector<Tensor>& tensors, const Buckets& buckets,
                         const CostModel& cost);

// When the last bucket has arrived; 0 without any.
double EndOf(const std::vector<Played>& played);

}  // namespace horovodx::schedule

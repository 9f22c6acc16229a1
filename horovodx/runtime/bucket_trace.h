// What the timeline shows of a bucket: each of its tensors, with Horovod's phase names.
#pragma once

#include "horovodx/runtime/bucket_job.h"
#include "horovodx/runtime/timeline.h"

namespace horovodx::runtime {

// Odd epochs follow a plan: 1, 3, ... are the first, the second.
inline std::uint32_t PlanNumber(std::uint32_t epoch) { return epoch / 2 + 1; }

void TraceStart(Timeline& timeline, const BucketJob& job, const BucketFacts& facts);
void TraceEnd(Timeline& timeline, const BucketJob& job, int set);
// It was given up: it will run again.
void TraceDrop(Timeline& timeline, const BucketJob& job, int set);

}  // namespace horovodx::runtime

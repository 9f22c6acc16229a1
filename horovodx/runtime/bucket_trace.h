// What the timeline shows of a bucket: each of its tensors, with Horovod's phase names.
#pragma once

#include "horovodx/runtime/bucket_job.h"
#include "horovodx/runtime/timeline.h"

namespace horovodx::runtime {

// `number` is this bucket's among all that have run in the set.
void TraceStart(Timeline& timeline, const BucketJob& job, int set, std::int64_t number);
void TraceEnd(Timeline& timeline, const BucketJob& job);

}  // namespace horovodx::runtime

// What the timeline shows of a bucket: each of its tensors, with Horovod's phase names.
#pragma once

#include "horovodx/runtime/bucket_job.h"
#include "horovodx/runtime/timeline.h"

namespace horovodx::runtime {

void TraceStart(Timeline& timeline, const BucketJob& job, const BucketFacts& facts);
void TraceEnd(Timeline& timeline, const BucketJob& job);

}  // namespace horovodx::runtime

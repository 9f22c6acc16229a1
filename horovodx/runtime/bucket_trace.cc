#include "horovodx/runtime/bucket_trace.h"

namespace horovodx::runtime {
namespace {

using negotiation::Kind;

// The activity inside the operation. Readers of Horovod's timelines look for these names; ours is
// the transport that takes Gloo's place.
const char* ActivityOf(Kind kind) {
  switch (kind) {
    case Kind::kAllreduce:
    case Kind::kAdasum:
      return "GLOO_ALLREDUCE";
    case Kind::kAllgather:
      return "GLOO_ALLGATHER";
    case Kind::kBroadcast:
      return "GLOO_BCAST";
    case Kind::kAlltoall:
      return "MPI_ALLTOALL";
    case Kind::kReducescatter:
      return "GLOO_REDUCESCATTER";
    default:
      return nullptr;
  }
}

bool Shown(Kind kind) { return kind != Kind::kBarrier && kind != Kind::kJoin; }

}  // namespace

void TraceStart(Timeline& timeline, const BucketJob& job, const BucketFacts& facts) {
  const Kind kind = job.bucket->kind;
  if (!timeline.active() || !Shown(kind)) return;
  timeline.BucketStart(negotiation::NameOf(kind), facts);
  for (const auto& entry : job.bucket->entries) {
    timeline.OperationStart(entry.name, negotiation::NameOf(kind), facts);
    if (const char* activity = ActivityOf(kind)) timeline.ActivityStart(entry.name, activity);
  }
}

void TraceEnd(Timeline& timeline, const BucketJob& job, int set) {
  const Kind kind = job.bucket->kind;
  if (!timeline.active() || !Shown(kind)) return;
  for (std::size_t i = 0; i < job.bucket->entries.size(); ++i) {
    const auto& entry = job.bucket->entries[i];
    if (kind == Kind::kError) {
      timeline.OperationFailed(entry.name);
      continue;
    }
    const Operation* operation = job.operations[i].get();
    timeline.OperationEnd(entry.name, job.bucket->type,
                          operation != nullptr ? operation->what.request.shape : entry.shape);
  }
  timeline.BucketEnd(set);
}

void TraceDrop(Timeline& timeline, const BucketJob& job, int set) {
  if (!timeline.active() || !Shown(job.bucket->kind)) return;
  for (const auto& entry : job.bucket->entries) timeline.OperationDropped(entry.name);
  timeline.BucketEnd(set);
}

}  // namespace horovodx::runtime

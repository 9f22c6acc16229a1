// Running a bucket on a team's links: the blocking half of the engine, for what the shared stage
// does not do. One file a kind: execute_allreduce.cc, execute_gather.cc, ...
//
// Inputs are intact until every rank has contributed: a planned bucket may be interrupted before
// that and run again. Buckets larger than scratch are streamed, so memory does not grow with them
// (but for Adasum, which needs whole vectors).
//
// Thread: a lane; blocks until done, the team's interrupt is raised, or a time limit passes.
#pragma once

#include <vector>

#include "horovodx/base/status.h"
#include "horovodx/collectives/select.h"
#include "horovodx/collectives/team.h"
#include "horovodx/runtime/bucket_job.h"

namespace horovodx::runtime {

// Any kind but kError and kJoin.
Status Execute(collectives::Team& team, BucketJob& job);

Status ExecuteAllreduce(collectives::Team& team, const BucketJob& job);
Status ExecuteAdasum(collectives::Team& team, const BucketJob& job);
Status ExecuteAllgather(collectives::Team& team, BucketJob& job);
Status ExecuteBroadcast(collectives::Team& team, BucketJob& job);
Status ExecuteAlltoall(collectives::Team& team, BucketJob& job);
Status ExecuteReducescatter(collectives::Team& team, BucketJob& job);

// Memory for a result of this shape: the caller's if it allocates, else kept by the operation. If
// the caller's allocator fails, the operation keeps it and `failed` says so: the other ranks need
// this one to take part.
std::byte* AllocateOutput(Operation& operation, std::vector<std::int64_t> shape, Status& failed);

}  // namespace horovodx::runtime

#include "horovodx/runtime/execute.h"

#include <new>
#include <utility>

namespace horovodx::runtime {

using negotiation::Kind;

Status Execute(collectives::Team& team, BucketJob& job) {
  switch (job.bucket->kind) {
    case Kind::kAllreduce:
      return ExecuteAllreduce(team, job);
    case Kind::kAdasum:
      return ExecuteAdasum(team, job);
    case Kind::kAllgather:
      return ExecuteAllgather(team, job);
    case Kind::kBroadcast:
      return ExecuteBroadcast(team, job);
    case Kind::kAlltoall:
      return ExecuteAlltoall(team, job);
    case Kind::kReducescatter:
      return ExecuteReducescatter(team, job);
    case Kind::kBarrier:
    case Kind::kJoin:
    case Kind::kError:
      break;
  }
  return Status::Unknown(std::string("cannot run ") + negotiation::NameOf(job.bucket->kind));
}

std::byte* AllocateOutput(Operation& operation, std::vector<std::int64_t> shape, Status& failed) {
  std::size_t bytes = SizeOf(operation.what.request.type);
  for (std::int64_t dimension : shape) bytes *= static_cast<std::size_t>(dimension);
  operation.output_shape = std::move(shape);
  if (operation.what.allocate != nullptr) {
    void* memory = operation.what.allocate(operation.output_shape);
    if (memory != nullptr || bytes == 0) return static_cast<std::byte*>(memory);
    failed = Status::Unknown("no memory for the " + std::to_string(bytes) + " bytes of '" +
                             operation.what.request.name + "'");
  }
  operation.kept.reset(new (std::nothrow) std::byte[bytes]);
  return operation.kept.get();
}

}  // namespace horovodx::runtime

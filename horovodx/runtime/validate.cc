#include "horovodx/runtime/validate.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

namespace horovodx::runtime {
namespace {

using negotiation::Kind;

Status CheckSplits(const Submission& s, std::size_t members) {
  const auto& shape = s.request.shape;
  if (shape.empty()) return Status::Ok();  // the coordinator words this error, on every rank
  if (s.splits.empty()) {
    if (shape[0] % static_cast<std::int64_t>(members) == 0) return Status::Ok();
    return Status::InvalidArgument("Alltoall: the first dimension (" + std::to_string(shape[0]) +
                                   ") is not an even multiple of the number of workers (" +
                                   std::to_string(members) +
                                   "); give splits to send uneven shares.");
  }
  if (s.splits.size() != members) {
    return Status::InvalidArgument(
        "Alltoall: the number of splits (" + std::to_string(s.splits.size()) +
        ") does not equal number of workers (" + std::to_string(members) + ").");
  }
  if (std::any_of(s.splits.begin(), s.splits.end(), [](int n) { return n < 0; })) {
    return Status::InvalidArgument("Alltoall: a splits entry is negative.");
  }
  const auto sum = std::accumulate(s.splits.begin(), s.splits.end(), std::int64_t{0});
  if (sum > shape[0]) {
    return Status::InvalidArgument("Alltoall: Sum of splits entries is greater (" +
                                   std::to_string(sum) + ") than the first dimension (" +
                                   std::to_string(shape[0]) + ").");
  }
  return Status::Ok();
}

Status CheckReduceOp(const negotiation::Request& r) {
  if (r.kind == Kind::kReducescatter && r.op != ReduceOp::kSum && r.op != ReduceOp::kAverage) {
    return Status::Aborted("Reducescatter only supports AVERAGE and SUM reductions.");
  }
  if (r.kind == Kind::kAdasum && r.type != ElementType::kFloat16 &&
      r.type != ElementType::kBfloat16 && r.type != ElementType::kFloat32 &&
      r.type != ElementType::kFloat64) {
    return Status::InvalidArgument("Adasum: type " + std::string(NameOf(r.type)) +
                                   " is not supported; it takes floating point types.");
  }
  return Status::Ok();
}

bool NeedsMemory(Kind kind) { return kind != Kind::kJoin && kind != Kind::kBarrier; }
bool WritesToOutput(Kind kind) {
  return kind == Kind::kAllreduce || kind == Kind::kAdasum || kind == Kind::kBroadcast ||
         kind == Kind::kReducescatter;
}

// Rows a member receives when `rows` are scattered over `members`.
std::int64_t SharesOf(std::int64_t rows, std::int64_t members, std::int64_t member) {
  return rows / members + (member < rows % members ? 1 : 0);
}

Status CheckMemory(const Submission& s, std::uint64_t elements, const std::vector<int>& ranks,
                   int rank) {
  const Kind kind = s.request.kind;
  if (!NeedsMemory(kind) || elements == 0) return Status::Ok();
  if (s.input == nullptr) {
    return Status::InvalidArgument(std::string(TitleOf(kind)) + ": tensor '" + s.request.name +
                                   "' has no input memory.");
  }
  bool writes = WritesToOutput(kind);
  if (kind == Kind::kReducescatter && !s.request.shape.empty()) {
    const auto me = std::find(ranks.begin(), ranks.end(), rank) - ranks.begin();
    writes = SharesOf(s.request.shape[0], static_cast<std::int64_t>(ranks.size()), me) > 0;
  }
  if (writes && s.output == nullptr) {
    return Status::InvalidArgument(std::string(TitleOf(kind)) + ": tensor '" + s.request.name +
                                   "' has no output memory.");
  }
  return Status::Ok();
}

}  // namespace

const char* TitleOf(Kind kind) {
  switch (kind) {
    case Kind::kAllreduce:
      return "Allreduce";
    case Kind::kAllgather:
      return "Allgather";
    case Kind::kBroadcast:
      return "Broadcast";
    case Kind::kJoin:
      return "Join";
    case Kind::kAdasum:
      return "Adasum";
    case Kind::kAlltoall:
      return "Alltoall";
    case Kind::kBarrier:
      return "Barrier";
    case Kind::kReducescatter:
      return "Reducescatter";
    case Kind::kError:
      break;
  }
  return "Operation";
}

Result<std::uint64_t> CountElements(const std::vector<std::int64_t>& shape, ElementType type) {
  const auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) /
                    std::max<std::size_t>(SizeOf(type), 1);
  std::uint64_t count = 1;
  for (std::int64_t dimension : shape) {
    if (dimension < 0) {
      return Status::InvalidArgument("a tensor dimension is negative: " +
                                     std::to_string(dimension));
    }
    const auto d = static_cast<std::uint64_t>(dimension);
    if (d != 0 && count > most / d) {
      return Status::InvalidArgument("a tensor has more elements than memory can hold");
    }
    count *= d;
  }
  return count;
}

Status CheckSubmission(const Submission& s, const std::vector<int>& ranks, int rank) {
  const std::string title = TitleOf(s.request.kind);
  if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end()) {
    return Status::InvalidArgument(title + ": Rank " + std::to_string(rank) +
                                   " is not a member of the provided process set.");
  }
  if (static_cast<int>(s.request.type) >= kElementTypes) {
    return Status::InvalidArgument(title + ": unknown element type number " +
                                   std::to_string(static_cast<int>(s.request.type)) + ".");
  }
  if (static_cast<int>(s.request.op) >= kReduceOps) {
    return Status::InvalidArgument(title + ": unknown reduce operation number " +
                                   std::to_string(static_cast<int>(s.request.op)) + ".");
  }
  if (s.request.device != -1) {
    return Status::InvalidArgument(title + ": tensor '" + s.request.name + "' is on device " +
                                   std::to_string(s.request.device) +
                                   "; this build handles CPU memory only.");
  }
  if (s.request.kind == Kind::kBroadcast &&
      std::find(ranks.begin(), ranks.end(), s.request.root) == ranks.end()) {
    return Status::InvalidArgument("broadcast received invalid root rank " +
                                   std::to_string(s.request.root) +
                                   " for the provided process set.");
  }
  if ((s.request.kind == Kind::kJoin || s.request.kind == Kind::kAdasum) && s.set != 0) {
    return Status::InvalidArgument(title + ": works on the global process set only.");
  }
  HVDX_RETURN_IF_ERROR(CheckReduceOp(s.request));
  auto elements = CountElements(s.request.shape, s.request.type);
  if (!elements.ok()) {
    return Status::InvalidArgument(title + ": '" + s.request.name +
                                   "': " + elements.status().message());
  }
  if (s.request.kind == Kind::kAlltoall) HVDX_RETURN_IF_ERROR(CheckSplits(s, ranks.size()));
  return CheckMemory(s, *elements, ranks, rank);
}

}  // namespace horovodx::runtime

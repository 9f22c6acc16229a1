#include "horovodx/api/submission_from_c.h"

#include <string>
#include <utility>

namespace horovodx::api {
namespace {

using negotiation::Kind;

Result<Kind> KindFromC(std::int32_t kind, std::int32_t op) {
  switch (kind) {
    case HVDX_ALLREDUCE:
      return op == HVDX_ADASUM ? Kind::kAdasum : Kind::kAllreduce;
    case HVDX_ALLGATHER:
    case HVDX_BROADCAST:
    case HVDX_JOIN:
    case HVDX_ALLTOALL:
    case HVDX_BARRIER:
    case HVDX_REDUCESCATTER:
      return static_cast<Kind>(kind);
    default:
      return Status::InvalidArgument("hvdx_submission: kind is " + std::to_string(kind) +
                                     ", which is no operation");
  }
}

// Join and barrier have fixed names: a process can have one of each outstanding.
std::string NameFor(Kind kind, const char* name) {
  if (kind == Kind::kJoin) return "join.noname";
  if (kind == Kind::kBarrier) return "barrier.noname";
  return name == nullptr ? "" : name;
}

}  // namespace

Status SubmissionFromC(const hvdx_submission* from, runtime::Submission& to) {
  if (from == nullptr || from->struct_size != sizeof(hvdx_submission)) {
    return Status::InvalidArgument("hvdx_submission: struct_size is " +
                                   std::to_string(from == nullptr ? 0 : from->struct_size) +
                                   ", expected " + std::to_string(sizeof(hvdx_submission)));
  }
  HVDX_ASSIGN_OR_RETURN(const Kind kind, KindFromC(from->kind, from->op));
  if (from->type < 0 || from->type >= kElementTypes) {
    return Status::InvalidArgument("hvdx_submission: type is " + std::to_string(from->type) +
                                   ", expected 0 to " + std::to_string(kElementTypes - 1));
  }
  if (from->op < 0 || from->op >= kReduceOps) {
    return Status::InvalidArgument("hvdx_submission: op is " + std::to_string(from->op) +
                                   ", expected 0 to " + std::to_string(kReduceOps - 1));
  }
  if (from->ndim < 0 || from->ndim > 64 || (from->ndim > 0 && from->shape == nullptr)) {
    return Status::InvalidArgument("hvdx_submission: ndim is " + std::to_string(from->ndim) +
                                   (from->shape == nullptr ? " and there is no shape" : ""));
  }
  if (from->split_count < 0 || (from->split_count > 0 && from->splits == nullptr)) {
    return Status::InvalidArgument("hvdx_submission: split_count is " +
                                   std::to_string(from->split_count));
  }
  to.request.kind = kind;
  to.request.name = NameFor(kind, from->name);
  if (to.request.name.empty()) {
    return Status::InvalidArgument("hvdx_submission: a tensor needs a name");
  }
  to.request.type = static_cast<ElementType>(from->type);
  to.request.op = static_cast<ReduceOp>(from->op);
  to.request.root = from->root;
  to.request.device = from->device;
  to.request.shape.assign(from->shape, from->shape + from->ndim);
  to.request.prescale = from->scaled != 0 ? from->prescale : 1.0;
  to.request.postscale = from->scaled != 0 ? from->postscale : 1.0;
  to.set = from->process_set;
  to.input = from->input;
  to.output = from->output;
  to.splits.assign(from->splits, from->splits + from->split_count);
  if (from->allocate != nullptr) {
    to.allocate = [allocate = from->allocate,
                   context = from->context](const std::vector<std::int64_t>& shape) {
      return allocate(context, static_cast<std::int32_t>(shape.size()), shape.data());
    };
  }
  if (from->done != nullptr) {
    to.done = [done = from->done, context = from->context](const Status& status) {
      done(context, static_cast<std::int32_t>(status.code()), status.message().c_str());
    };
  }
  return Status::Ok();
}

}  // namespace horovodx::api

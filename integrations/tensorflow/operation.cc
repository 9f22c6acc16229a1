#include "integrations/tensorflow/operation.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "integrations/tensorflow/in_flight.h"
#include "integrations/tensorflow/looking_inside.h"
#include "integrations/tensorflow/status.h"

namespace hvdx_tf {
namespace {

std::atomic<bool> blocking{false};
std::atomic<std::int64_t> forwarded_count{0};

char nothing;  // where tensors without elements lie

}  // namespace

void Operation::Run(const Kernel& kernel, TF_OpKernelContext* context,
                    TF_AsyncOpKernelDoneCallback* done) {
  auto* operation = new Operation(kernel, context, done);
  if (operation->Prepare()) operation->Submit();
  if (operation->blocking_) {
    operation->WaitAndFinish();
  } else {
    operation->Leave();
  }
}

Operation::Operation(const Kernel& kernel, TF_OpKernelContext* context,
                     TF_AsyncOpKernelDoneCallback* done)
    : kernel_(kernel), context_(context), blocking_(blocking), done_(done, !blocking_) {
  InFlight::Enter();
}

bool Operation::Prepare() {
  const bool join = kernel_.kind == HVDX_JOIN;
  const bool alltoall = kernel_.kind == HVDX_ALLTOALL;
  members_.resize(join || alltoall ? 1 : TF_NumInputs(context_));
  const int n = static_cast<int>(members_.size());
  for (int i = 0; i < n; ++i) {
    Member& member = members_[i];
    member.owner = this;
    member.index = i;
    member.name = MemberName(kernel_, i, n);
    if (join) continue;
    if (!ReadInput(member) || !MakeRoom(member)) return false;
    if (alltoall && !ReadSplits(member)) return false;
  }
  return true;
}

bool Operation::ReadInput(Member& member) {
  Status status;
  TF_Tensor* tensor = nullptr;
  TF_GetInput(context_, member.index, &tensor, status.get());
  if (!status.ok()) {
    Fail(status.code(), status.message());
    return false;
  }
  member.input.reset(tensor);
  member.type = TF_TensorType(tensor);
  member.shape = ShapeOf(*tensor);
  return true;
}

bool Operation::ReadSplits(Member& member) {
  Status status;
  TF_Tensor* tensor = nullptr;
  TF_GetInput(context_, 1, &tensor, status.get());
  if (!status.ok()) {
    Fail(status.code(), status.message());
    return false;
  }
  const Tensor splits(tensor);
  if (TF_NumDims(tensor) != 1) {
    Fail(TF_INVALID_ARGUMENT, "alltoall expects a 1D splits tensor");
    return false;
  }
  const auto* rows = static_cast<const std::int32_t*>(TF_TensorData(tensor));
  member.splits.assign(rows, rows + TF_TensorElementCount(tensor));
  member.received_splits.resize(std::max(horovod_size(), 0));  // enough for any set
  return true;
}

bool Operation::MakeRoom(Member& member) {
  switch (kernel_.kind) {
    case HVDX_ALLREDUCE:
    case HVDX_BROADCAST:
      return MakeRoomLikeInput(member);
    case HVDX_REDUCESCATTER:
      return MakeRoomForMyRows(member);
    default:
      return true;  // Allocate() will
  }
}

bool Operation::MakeRoomLikeInput(Member& member) {
  // TensorFlow hands an input's memory on only if nobody else holds it, which we would.
  member.input.reset();
  Status status;
  int forwarded = -1;
  member.output.reset(TF_ForwardInputOrAllocateOutput(
      context_, &member.index, 1, member.index, member.shape.data(),
      static_cast<int>(member.shape.size()), &forwarded, status.get()));
  if (!status.ok()) {
    Fail(status.code(), status.message());
    return false;
  }
  if (forwarded < 0) return ReadInput(member);
  ++forwarded_count;
  return true;
}

bool Operation::MakeRoomForMyRows(Member& member) {
  if (member.shape.empty()) {
    Fail(TF_INVALID_ARGUMENT, "reducescatter does not support scalar inputs.");
    return false;
  }
  const int size = horovod_process_set_size(kernel_.process_set);
  const int rank = horovod_process_set_rank(kernel_.process_set);
  if (size <= 0 || rank < 0) return true;  // the engine will say what is wrong
  Shape mine = member.shape;
  mine[0] = mine[0] / size + (rank < mine[0] % size ? 1 : 0);
  member.output = NewOutput(member.index, member.type, mine);
  return member.output != nullptr;
}

Tensor Operation::NewOutput(int index, TF_DataType type, const Shape& shape) {
  Status status;
  const std::size_t bytes = static_cast<std::size_t>(ElementsIn(shape)) * TF_DataTypeSize(type);
  Tensor output(TF_AllocateOutput(context_, index, type, shape.data(),
                                  static_cast<int>(shape.size()), bytes, status.get()));
  if (!status.ok()) {
    Fail(status.code(), status.message());
    return nullptr;
  }
  return output;
}

hvdx_submission Operation::Describe(Member& member) const {
  hvdx_submission s{};
  s.struct_size = sizeof(s);
  s.kind = kernel_.kind;
  s.type = ElementTypeOf(member.type);
  s.op = kernel_.op;
  s.process_set = kernel_.process_set;
  s.root = kernel_.root;
  s.device = -1;
  s.ndim = static_cast<std::int32_t>(member.shape.size());
  s.shape = member.shape.data();
  s.name = member.name.c_str();
  s.scaled = 1;
  s.prescale = kernel_.prescale;
  s.postscale = kernel_.postscale;
  s.output = member.output == nullptr ? nullptr : TF_TensorData(member.output.get());
  s.input = member.input == nullptr ? s.output : TF_TensorData(member.input.get());
  s.splits = member.splits.data();
  s.split_count = static_cast<std::int32_t>(member.splits.size());
  if (kernel_.kind == HVDX_ALLGATHER || kernel_.kind == HVDX_ALLTOALL) s.allocate = Allocate;
  s.done = MemberDone;
  s.context = &member;
  return s;
}

void Operation::Submit() {
  const int n = static_cast<int>(members_.size());
  std::vector<hvdx_submission> all;
  for (Member& member : members_) all.push_back(Describe(member));
  std::vector<hvdx_handle> handles(n);
  not_left_ += n;
  std::int32_t status = HVDX_OK;
  if (kernel_.grouped) {
    status = hvdx_submit_group(all.data(), n, handles.data());
  } else {
    handles[0] = hvdx_submit(all.data());
    if (handles[0] < 0) status = static_cast<std::int32_t>(-handles[0]);
  }
  if (status != HVDX_OK) {
    not_left_ -= n;
    Fail(CodeFor(status), hvdx_last_error());
    return;
  }
  for (int i = 0; i < n; ++i) members_[i].handle = handles[i];
}

void* Operation::Allocate(void* member_pointer, std::int32_t ndim, const std::int64_t* shape) {
  auto& member = *static_cast<Member*>(member_pointer);
  const Shape dimensions(shape, shape + ndim);
  member.output = member.owner->NewOutput(member.index, member.type, dimensions);
  if (member.output == nullptr) return nullptr;
  void* data = TF_TensorData(member.output.get());
  return data == nullptr ? &nothing : data;
}

void Operation::MemberDone(void* member_pointer, std::int32_t status, const char* message) {
  Operation* operation = static_cast<Member*>(member_pointer)->owner;
  if (status != HVDX_OK) operation->Fail(CodeFor(status), message);
  operation->Leave();
}

void Operation::Fail(TF_Code code, const std::string& message) {
  const std::lock_guard<std::mutex> lock(failure_mutex_);
  if (failure_ != TF_OK) return;
  failure_ = code;
  failure_message_ = message;
}

void Operation::Leave() {
  if (--not_left_ != 0) return;
  if (blocking_) {
    all_left_.release();
  } else {
    Finish();
  }
}

void Operation::WaitAndFinish() {
  for (const Member& member : members_) {
    if (member.handle > 0) hvdx_wait(member.handle, -1);
  }
  Leave();
  all_left_.acquire();
  Finish();
}

void Operation::Finish() {
  if (failure_ == TF_OK) WriteResults();
  for (const Member& member : members_) {
    if (member.handle > 0) hvdx_release(member.handle);
  }
  if (failure_ != TF_OK) {
    Status status;
    status.Set(failure_, failure_message_.c_str());
    TF_OpKernelContext_Failure(context_, status.get());
  }
  DoneCallback done = std::move(done_);
  delete this;  // lets go of the tensors, so that whoever comes next may have their memory
  InFlight::Leave();
  done.Run();
}

// What the engine does not write itself.
void Operation::WriteResults() {
  if (kernel_.kind == HVDX_JOIN) {
    const Tensor last = NewOutput(0, TF_INT32, {});
    const std::int32_t rank = hvdx_last_joined(members_[0].handle);
    if (last != nullptr) std::memcpy(TF_TensorData(last.get()), &rank, sizeof(rank));
  }
  if (kernel_.kind == HVDX_ALLTOALL) {
    auto& rows = members_[0].received_splits;
    const int n = hvdx_received_splits(members_[0].handle, rows.data());
    const Tensor received = NewOutput(1, TF_INT32, {n});
    if (received != nullptr) {
      std::memcpy(TF_TensorData(received.get()), rows.data(), n * sizeof(std::int32_t));
    }
  }
}

}  // namespace hvdx_tf

extern "C" {
void hvdx_tf_set_blocking(int value) { hvdx_tf::blocking = value != 0; }
std::int64_t hvdx_tf_forwarded() { return hvdx_tf::forwarded_count.exchange(0); }
}

#include "horovodx/transport/mpi/allreduce.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

namespace horovodx::transport::mpi {
namespace {

using horovodx::mpi::Op;
using horovodx::mpi::Type;

constexpr std::size_t kMostBytes = 4 << 20;  // at a time
// Making a communicator sends messages with its tag: not those of the links.
constexpr int kFirstTag = 1 << 28;
constexpr Duration kAwake = std::chrono::microseconds(100);
constexpr Duration kLongestLook = std::chrono::milliseconds(1);

std::optional<Type> TypeOf(ElementType type) {
  switch (type) {
    case ElementType::kInt8:
      return Type::kInt8;
    case ElementType::kUint8:
      return Type::kUint8;
    case ElementType::kInt16:
      return Type::kInt16;
    case ElementType::kUint16:
      return Type::kUint16;
    case ElementType::kInt32:
      return Type::kInt32;
    case ElementType::kInt64:
      return Type::kInt64;
    case ElementType::kFloat32:
      return Type::kFloat32;
    case ElementType::kFloat64:
      return Type::kFloat64;
    default:
      return std::nullopt;  // MPI knows no 16-bit floats, and another sum of truths
  }
}

std::optional<Op> OpOf(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return Op::kSum;
    case ReduceOp::kMin:
      return Op::kMin;
    case ReduceOp::kMax:
      return Op::kMax;
    case ReduceOp::kProduct:
      return Op::kProduct;
    default:
      return std::nullopt;
  }
}

}  // namespace

MpiAllreduce::MpiAllreduce(horovodx::mpi::Library& library, horovodx::mpi::Comm comm,
                           std::vector<int> members, int tag, const Interrupt& interrupt)
    : library_(library),
      world_(comm),
      members_(std::move(members)),
      tag_(kFirstTag + tag),
      interrupt_(interrupt) {}

MpiAllreduce::~MpiAllreduce() {
  // After a failure MPI may still work on the memory, and the others may not free it.
  if (!failure_.ok()) {
    static_cast<void>(bytes_.release());
  } else if (comm_ != nullptr && !library_.unfinished() && !library_.call().finished()) {
    library_.call().release(&comm_);
  }
}

bool MpiAllreduce::Has(ElementType type, ReduceOp op) const {
  return TypeOf(type).has_value() && OpOf(op).has_value();
}

Status MpiAllreduce::MakeComm() {
  if (comm_ != nullptr) return Status::Ok();
  bytes_ = std::make_unique<std::byte[]>(kMostBytes);
  const int count = static_cast<int>(members_.size());
  return library_.Check(library_.call().among(world_, members_.data(), count, tag_, &comm_),
                        "MPI_Comm_create_group");
}

Status MpiAllreduce::Run(ElementType type, ReduceOp op, void* data, std::size_t count,
                         const Deadline& deadline) {
  HVDX_RETURN_IF_ERROR(failure_);
  failure_ = MakeComm();
  auto* at = static_cast<std::byte*>(data);
  while (failure_.ok() && count > 0) {
    const std::size_t some = std::min(count, kMostBytes / SizeOf(type));
    std::memcpy(bytes_.get(), at, some * SizeOf(type));
    horovodx::mpi::Request request = nullptr;
    const int error = library_.call().allreduce(bytes_.get(), static_cast<int>(some),
                                                static_cast<int>(*TypeOf(type)),
                                                static_cast<int>(*OpOf(op)), comm_, &request);
    failure_ = library_.Check(error, "MPI_Iallreduce");
    if (failure_.ok()) failure_ = Finish(request, deadline);
    if (!failure_.ok()) break;
    std::memcpy(at, bytes_.get(), some * SizeOf(type));
    at += some * SizeOf(type);
    count -= some;
  }
  return failure_;
}

// Awake for a moment, then ever more rarely: MPI cannot wake anybody.
Status MpiAllreduce::Finish(horovodx::mpi::Request request, const Deadline& deadline) const {
  const TimePoint asleep_at = Clock::now() + kAwake;
  Duration pause = std::chrono::microseconds(20);
  while (true) {
    bool done = false;
    HVDX_RETURN_IF_ERROR(
        library_.Check(library_.call().test(&request, &done, nullptr), "MPI_Iallreduce"));
    if (done) return Status::Ok();
    // Everybody is in it, so nobody takes it back; but somebody may die.
    Status status = interrupt_.Check();
    if (!status.ok() && status.code() != StatusCode::kCancelled) return status;
    if (deadline.Passed()) return Status::Unknown("waited too long for MPI's allreduce");
    if (Clock::now() < asleep_at) {
      ::sched_yield();
      continue;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min<Duration>(2 * pause, kLongestLook);
  }
}

}  // namespace horovodx::transport::mpi

#include "tests/horovodx/runtime/program_run.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <utility>

#include "kernels/cast.h"
#include "tests/support/engine_world.h"

namespace horovodx::runtime {
namespace {

using negotiation::Kind;

// Values of which the sum over eight ranks is exact in every type, and the product as well.
double ExactValue(std::mt19937_64& random, const ProgramTensor& tensor) {
  if (tensor.op == ReduceOp::kProduct) return static_cast<double>(1 + random() % 2);
  const bool has_sign = tensor.type != ElementType::kUint8 && tensor.type != ElementType::kUint16;
  return static_cast<double>(random() % 16) - (has_sign ? 8 : 0);
}

std::vector<std::byte> ValuesOf(const ProgramTensor& tensor, std::size_t count,
                                std::uint64_t salt) {
  std::mt19937_64 random(salt);
  std::uniform_real_distribution<double> any(-1.0, 1.0);
  const bool whole =
      tensor.exact || tensor.type < ElementType::kFloat16 || tensor.type == ElementType::kBool;
  std::vector<double> values(count);
  for (double& value : values) value = whole ? ExactValue(random, tensor) : any(random);
  std::vector<std::byte> bytes(count * SizeOf(tensor.type));
  kernels::Cast(tensor.type, bytes.data(), ElementType::kFloat64, values.data(), count);
  return bytes;
}

std::size_t CountOf(const std::vector<std::int64_t>& shape) {
  std::size_t count = 1;
  for (std::int64_t dimension : shape) count *= static_cast<std::size_t>(dimension);
  return count;
}

void Append(std::vector<std::byte>& to, const void* data, std::size_t bytes) {
  const auto* from = static_cast<const std::byte*>(data);
  to.insert(to.end(), from, from + bytes);
}

// Its values, and the shapes that were not known before.
std::vector<std::byte> ResultOf(const Operation& operation, const std::vector<std::byte>& output) {
  const auto& request = operation.what.request;
  std::vector<std::byte> result = output;
  if (request.kind == Kind::kAllgather || request.kind == Kind::kAlltoall) {
    Append(result, operation.kept.get(), CountOf(operation.output_shape) * SizeOf(request.type));
  }
  Append(result, operation.output_shape.data(), operation.output_shape.size() * 8);
  Append(result, operation.received_splits.data(), operation.received_splits.size() * 4);
  return result;
}

}  // namespace

Results ProgramRun::Go() {
  for (const Phase& phase : program_.phases) RunPhase(phase);
  WaitForAll();
  if (!program_.uneven_steps.empty()) RunUnevenStepsAndJoin();
  WaitForOthers();
  return std::move(results_);
}

void ProgramRun::Start(const ProgramTensor& tensor) {
  const int members = program_.MembersOf(tensor.set);
  Submission s;
  s.set = tensor.set;
  s.request.kind = tensor.kind;
  s.request.name = tensor.name;
  s.request.type = tensor.type;
  s.request.op = tensor.op;
  s.request.root = tensor.root;
  s.request.prescale = tensor.prescale;
  s.request.group = tensor.group;
  s.request.group_size = tensor.group_size;
  s.request.shape = tensor.ShapeOf(engine_.rank(), members);
  if (tensor.kind == Kind::kAlltoall) s.splits = tensor.SplitsOf(engine_.rank(), members);

  InFlight& flight = in_flight_[std::to_string(tensor.set) + tensor.name];
  flight.input = ValuesOf(tensor, CountOf(s.request.shape),
                          static_cast<std::uint64_t>(engine_.rank()) * 1'000'003 + results_.size());
  flight.result = results_.size();
  results_.emplace_back();
  s.input = flight.input.data();
  if (tensor.kind == Kind::kReducescatter) {
    flight.output.resize(flight.input.size());  // at least as much as is needed
    s.output = flight.output.data();
  } else {
    s.output = flight.input.data();
  }
  auto operation = engine_.Submit(std::move(s));
  ASSERT_TRUE(operation.ok()) << operation.status().ToString();
  flight.operation = *operation;
}

void ProgramRun::WaitFor(InFlight& flight, bool poll) {
  ASSERT_NE(flight.operation, nullptr);
  const auto deadline = Deadline::After(Seconds(60));
  if (poll) {
    while (!engine_.Poll(flight.operation) && !deadline.Passed()) std::this_thread::yield();
  } else {
    engine_.Wait(flight.operation, deadline);
  }
  const Operation& operation = *flight.operation;
  ASSERT_TRUE(operation.finished) << "hang: rank " << engine_.rank() << " waits for "
                                  << operation.what.request.name;
  ASSERT_TRUE(operation.status.ok()) << operation.status.ToString();
  const bool apart = operation.what.request.kind == Kind::kReducescatter;
  results_[flight.result] = ResultOf(operation, apart ? flight.output : flight.input);
}

void ProgramRun::WaitForAll(bool poll) {
  for (auto& [key, flight] : in_flight_) WaitFor(flight, poll);
  in_flight_.clear();
}

void ProgramRun::RunPhase(const Phase& phase) {
  for (int i : phase.order[engine_.rank()]) {
    if (program_.InSet(engine_.rank(), phase.tensors[i].set)) Start(phase.tensors[i]);
  }
  const int block_on = phase.block_on[engine_.rank()];
  if (block_on <= -2) {
    WaitForAll(block_on == -2);
  } else if (block_on >= 0) {
    const ProgramTensor& tensor = phase.tensors[block_on];
    const auto it = in_flight_.find(std::to_string(tensor.set) + tensor.name);
    if (it == in_flight_.end()) return;
    WaitFor(it->second, false);
    in_flight_.erase(it);
  }
}

void ProgramRun::RunUnevenStepsAndJoin() {
  ProgramTensor uneven;
  uneven.name = "uneven";
  uneven.rows = 33;
  uneven.exact = true;
  for (int i = 0; i < program_.uneven_steps[engine_.rank()]; ++i) {
    Start(uneven);
    WaitForAll();
  }
  Submission join;
  join.request.kind = Kind::kJoin;
  join.request.name = "join.noname";
  const Status status = testing_support::SubmitAndWait(engine_, std::move(join));
  ASSERT_TRUE(status.ok()) << status.ToString();
}

// The first to shut down ends all: nobody may before everybody is through.
void ProgramRun::WaitForOthers() {
  Submission barrier;
  barrier.request.kind = Kind::kBarrier;
  barrier.request.name = "barrier.noname";
  const Status status = testing_support::SubmitAndWait(engine_, std::move(barrier));
  ASSERT_TRUE(status.ok()) << status.ToString();
}

}  // namespace horovodx::runtime

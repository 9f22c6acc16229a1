// Allreduce and Adasum over links.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "horovodx/collectives/allreduce_adasum.h"
#include "horovodx/collectives/buffer.h"
#include "horovodx/runtime/execute.h"
#include "kernels/pack.h"
#include "kernels/scale.h"

namespace horovodx::runtime {
namespace {

using collectives::AllreduceAlgorithm;
using collectives::MutableBuffer;
using collectives::SelectInput;
using collectives::Team;
using kernels::Piece;

constexpr std::size_t kScratchBytes = 4 << 20;

AllreduceAlgorithm Choose(const Team& team, std::size_t bytes, const ExecuteOptions& options) {
  const auto& hosts = team.hosts();
  SelectInput input;
  input.bytes = bytes;
  input.ranks = team.size();
  input.hosts = hosts.hosts();
  input.ranks_per_host = hosts.homogeneous() ? team.size() / hosts.hosts() : 0;
  input.deterministic = options.deterministic;
  input.hierarchical = options.hierarchical;
  input.torus = options.torus;
  input.overrides = options.allreduce;
  return collectives::SelectAllreduce(input);
}

// Packs as kernels::Pack does; a tensor this rank does not have is zeros.
void PackOrZero(const BucketJob& job, const std::vector<Piece>& inputs, std::size_t begin,
                std::size_t count, std::byte* to) {
  const ElementType type = job.bucket->type;
  const bool joined = std::any_of(inputs.begin(), inputs.end(),
                                  [](const Piece& p) { return p.data == nullptr && p.count > 0; });
  if (joined) {
    std::memset(to, 0, count * SizeOf(type));
    return;
  }
  kernels::Pack(type, to, type, inputs.data(), inputs.size(), begin, count, job.bucket->prescale);
}

// Through scratch, a window at a time: for algorithms that keep partial sums in their buffer.
Status StreamThroughScratch(Team& team, const BucketJob& job, AllreduceAlgorithm algorithm,
                            const std::vector<Piece>& inputs, const std::vector<Piece>& outputs,
                            std::size_t elements) {
  const ElementType type = job.bucket->type;
  const std::size_t window =
      std::max<std::size_t>(std::min(elements, kScratchBytes / SizeOf(type)), 1);
  std::vector<std::byte> scratch(window * SizeOf(type));
  std::size_t begin = 0;
  do {  // once for an empty bucket: all ranks must have come
    const std::size_t count = std::min(window, elements - begin);
    PackOrZero(job, inputs, begin, count, scratch.data());
    const MutableBuffer buffer(type, scratch.data(), count);
    HVDX_RETURN_IF_ERROR(collectives::FunctionOf(algorithm)(team, buffer, job.op()));
    if (job.operations.empty() || job.operations[0] != nullptr) {
      kernels::Unpack(type, outputs.data(), outputs.size(), begin, count, type, scratch.data(),
                      job.postscale());
    }
    begin += count;
  } while (begin < elements);
  return Status::Ok();
}

// Straight from and to the tensors: for algorithms that write finished sums only.
Status OnTensors(Team& team, const BucketJob& job, AllreduceAlgorithm algorithm,
                 const std::vector<Piece>& inputs, const std::vector<Piece>& outputs) {
  const ElementType type = job.bucket->type;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].data == outputs[i].data || inputs[i].count == 0) continue;
    std::memcpy(outputs[i].data, inputs[i].data, inputs[i].count * SizeOf(type));
  }
  HVDX_RETURN_IF_ERROR(
      collectives::FunctionOf(algorithm)(team, MutableBuffer(type, outputs), job.op()));
  if (job.postscale() == 1.0) return Status::Ok();
  for (const Piece& piece : outputs) {
    kernels::Scale(type, piece.data, piece.data, piece.count, job.postscale());
  }
  return Status::Ok();
}

std::size_t CountOf(const std::vector<Piece>& pieces) {
  std::size_t count = 0;
  for (const Piece& piece : pieces) count += piece.count;
  return count;
}

}  // namespace

Status ExecuteAllreduce(Team& team, const BucketJob& job, const ExecuteOptions& options) {
  std::vector<Piece> inputs;
  std::vector<Piece> outputs;
  job.Inputs(inputs);
  job.Outputs(outputs);
  const std::size_t elements = CountOf(inputs);
  const std::size_t bytes = elements * SizeOf(job.bucket->type);
  const AllreduceAlgorithm algorithm = Choose(team, bytes, options);
  const bool direct =
      collectives::KeepsInputs(algorithm) && bytes > kScratchBytes && job.bucket->prescale == 1.0;
  if (!direct) return StreamThroughScratch(team, job, algorithm, inputs, outputs, elements);
  if (job.operations[0] != nullptr) return OnTensors(team, job, algorithm, inputs, outputs);
  // A rank that has joined must follow the others message by message: it needs as much memory.
  std::vector<std::byte> zeros(bytes);
  return collectives::FunctionOf(algorithm)(
      team, MutableBuffer(job.bucket->type, zeros.data(), elements), job.op());
}

Status ExecuteAdasum(Team& team, const BucketJob& job) {
  std::vector<Piece> inputs;
  std::vector<Piece> outputs;
  job.Inputs(inputs);
  job.Outputs(outputs);
  const ElementType type = job.bucket->type;
  const std::size_t elements = CountOf(inputs);
  std::vector<std::byte> scratch(elements * SizeOf(type));
  PackOrZero(job, inputs, 0, elements, scratch.data());
  std::vector<std::size_t> counts;
  for (const Piece& piece : inputs) counts.push_back(piece.count);
  HVDX_RETURN_IF_ERROR(
      collectives::AllreduceAdasum(team, MutableBuffer(type, scratch.data(), elements), counts));
  if (job.operations[0] == nullptr) return Status::Ok();
  kernels::Unpack(type, outputs.data(), outputs.size(), 0, elements, type, scratch.data(),
                  job.bucket->postscale);
  return Status::Ok();
}

}  // namespace horovodx::runtime

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
using collectives::Team;
using kernels::Piece;

constexpr std::size_t kScratchBytes = 4 << 20;

// The tensors of a bucket. A rank that has joined lacks some: it has zeros in their place.
struct Tensors {
  explicit Tensors(const BucketJob& job) {
    job.Inputs(inputs);
    job.Outputs(outputs);
    const std::size_t size = SizeOf(job.bucket->type);
    std::size_t absent = 0;
    for (const Piece& piece : inputs) {
      elements += piece.count;
      if (piece.data == nullptr) absent += piece.count * size;
    }
    zeros.resize(absent);
    std::byte* at = zeros.data();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (job.operations[i] != nullptr) continue;
      inputs[i].data = outputs[i].data = at;
      at += inputs[i].count * size;
    }
  }

  std::vector<Piece> inputs;
  std::vector<Piece> outputs;
  std::size_t elements = 0;
  std::vector<std::byte> zeros;
};

// Through scratch, a window at a time: for algorithms that keep partial sums in their buffer.
Status StreamThroughScratch(Team& team, const BucketJob& job, AllreduceAlgorithm algorithm,
                            const Tensors& tensors) {
  const ElementType type = job.bucket->type;
  const auto& [inputs, outputs, elements, zeros] = tensors;
  const std::size_t window =
      std::max<std::size_t>(std::min(elements, kScratchBytes / SizeOf(type)), 1);
  std::vector<std::byte> scratch(window * SizeOf(type));
  std::size_t begin = 0;
  do {  // once for an empty bucket: all ranks must have come
    const std::size_t count = std::min(window, elements - begin);
    kernels::Pack(type, scratch.data(), type, inputs.data(), inputs.size(), begin, count,
                  job.bucket->prescale);
    const MutableBuffer buffer(type, scratch.data(), count);
    HVDX_RETURN_IF_ERROR(collectives::FunctionOf(algorithm)(team, buffer, job.op()));
    kernels::Unpack(type, outputs.data(), outputs.size(), begin, count, type, scratch.data(),
                    job.postscale());
    begin += count;
  } while (begin < elements);
  return Status::Ok();
}

// Straight from and to the tensors: for algorithms that write finished sums only.
Status OnTensors(Team& team, const BucketJob& job, AllreduceAlgorithm algorithm,
                 const Tensors& tensors) {
  const ElementType type = job.bucket->type;
  const auto& [inputs, outputs, elements, zeros] = tensors;
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

}  // namespace

Status ExecuteAllreduce(Team& team, const BucketJob& job) {
  const Tensors tensors(job);
  const std::size_t bytes = tensors.elements * SizeOf(job.bucket->type);
  const AllreduceAlgorithm algorithm = job.algorithm;
  const bool direct =
      collectives::KeepsInputs(algorithm) && bytes > kScratchBytes && job.bucket->prescale == 1.0;
  return direct ? OnTensors(team, job, algorithm, tensors)
                : StreamThroughScratch(team, job, algorithm, tensors);
}

Status ExecuteAdasum(Team& team, const BucketJob& job) {
  const Tensors tensors(job);
  const auto& [inputs, outputs, elements, zeros] = tensors;
  const ElementType type = job.bucket->type;
  std::vector<std::byte> scratch(elements * SizeOf(type));
  kernels::Pack(type, scratch.data(), type, inputs.data(), inputs.size(), 0, elements,
                job.bucket->prescale);
  std::vector<std::size_t> counts;
  for (const Piece& piece : inputs) counts.push_back(piece.count);
  HVDX_RETURN_IF_ERROR(
      collectives::AllreduceAdasum(team, MutableBuffer(type, scratch.data(), elements), counts));
  kernels::Unpack(type, outputs.data(), outputs.size(), 0, elements, type, scratch.data(),
                  job.bucket->postscale);
  return Status::Ok();
}

}  // namespace horovodx::runtime

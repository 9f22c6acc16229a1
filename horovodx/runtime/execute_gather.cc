// Allgather, broadcast, alltoall and reducescatter over links.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <vector>

#include "horovodx/collectives/allgather.h"
#include "horovodx/collectives/alltoall_counts.h"
#include "horovodx/collectives/alltoall_pairwise.h"
#include "horovodx/collectives/broadcast.h"
#include "horovodx/collectives/buffer.h"
#include "horovodx/collectives/patterns/blocks.h"
#include "horovodx/collectives/reducescatter.h"
#include "horovodx/runtime/execute.h"

namespace horovodx::runtime {
namespace {

using collectives::Blocks;
using collectives::MutableBuffer;
using collectives::Team;

// Bytes of one row: everything behind the first dimension.
std::size_t RowBytes(const Operation& operation) {
  std::size_t bytes = SizeOf(operation.what.request.type);
  const auto& shape = operation.what.request.shape;
  for (std::size_t i = 1; i < shape.size(); ++i) bytes *= static_cast<std::size_t>(shape[i]);
  return bytes;
}

std::vector<std::int64_t> WithRows(const Operation& operation, std::int64_t rows) {
  std::vector<std::int64_t> shape = operation.what.request.shape;
  shape[0] = rows;
  return shape;
}

// Where the parts of one gathered tensor go.
struct Gathered {
  std::byte* output = nullptr;
  Blocks blocks;  // bytes, by rank
};

Result<Gathered> PrepareGather(Operation& operation, const negotiation::Entry& entry, int rank) {
  const std::size_t row = RowBytes(operation);
  const auto rows =
      std::accumulate(entry.first_dims.begin(), entry.first_dims.end(), std::int64_t{0});
  std::vector<std::size_t> sizes;
  for (std::int64_t dimension : entry.first_dims) {
    sizes.push_back(static_cast<std::size_t>(dimension) * row);
  }
  Gathered to{AllocateOutput(operation, WithRows(operation, rows), operation.local_failure),
              Blocks::Packed(sizes)};
  if (to.output == nullptr && to.blocks.total() > 0) return operation.local_failure;
  if (sizes[rank] > 0) {
    std::memcpy(to.output + to.blocks[rank].offset, operation.what.input, sizes[rank]);
  }
  return to;
}

}  // namespace

Status ExecuteAllgather(Team& team, BucketJob& job) {
  std::vector<Gathered> tensors;
  for (std::size_t i = 0; i < job.operations.size(); ++i) {
    HVDX_ASSIGN_OR_RETURN(auto to,
                          PrepareGather(*job.operations[i], job.bucket->entries[i], team.rank()));
    tensors.push_back(std::move(to));
  }
  // Rank by rank, the parts of all tensors: one block a rank, straight in the result tensors.
  std::vector<MutableBytes> parts;
  std::vector<std::size_t> sizes(team.size(), 0);
  for (int rank = 0; rank < team.size(); ++rank) {
    for (const Gathered& tensor : tensors) {
      const auto& block = tensor.blocks[rank];
      sizes[rank] += block.size;
      if (block.size > 0) parts.push_back(MutableBytesOf(tensor.output + block.offset, block.size));
    }
  }
  return collectives::Allgather(team, Blocks::Packed(sizes), parts, job.hierarchical_allgather);
}

Status ExecuteBroadcast(Team& team, BucketJob& job) {
  Operation& operation = *job.operations[0];
  const std::size_t bytes = operation.elements * SizeOf(job.bucket->type);
  const Submission& what = operation.what;
  if (team.rank() == job.bucket->root && what.output != what.input && bytes > 0) {
    std::memcpy(what.output, what.input, bytes);
  }
  const MutableBytes buffer = MutableBytesOf(what.output, bytes);
  return collectives::Broadcast(team, job.bucket->root, {&buffer, 1});
}

Status ExecuteAlltoall(Team& team, BucketJob& job) {
  Operation& operation = *job.operations[0];
  const std::size_t row = RowBytes(operation);
  const std::int64_t rows = operation.what.request.shape[0];
  std::vector<std::int64_t> send(operation.what.splits.begin(), operation.what.splits.end());
  if (send.empty()) send.assign(team.size(), rows / team.size());
  std::vector<std::int64_t> receive(team.size());
  HVDX_RETURN_IF_ERROR(collectives::ExchangeCounts(team, send, receive));

  auto in_bytes = [row](const std::vector<std::int64_t>& counts) {
    std::vector<std::size_t> sizes;
    for (std::int64_t count : counts) sizes.push_back(static_cast<std::size_t>(count) * row);
    return Blocks::Packed(sizes);
  };
  const auto received_rows = std::accumulate(receive.begin(), receive.end(), std::int64_t{0});
  const Blocks out_blocks = in_bytes(receive);
  std::byte* output =
      AllocateOutput(operation, WithRows(operation, received_rows), operation.local_failure);
  if (output == nullptr && out_blocks.total() > 0) return operation.local_failure;
  operation.received_splits.assign(receive.begin(), receive.end());
  return collectives::AlltoallPairwise(
      team, BytesOf(operation.what.input, static_cast<std::size_t>(rows) * row), in_bytes(send),
      MutableBytesOf(output, out_blocks.total()), out_blocks);
}

Status ExecuteReducescatter(Team& team, BucketJob& job) {
  const ElementType type = job.bucket->type;
  const std::size_t size = SizeOf(type);
  std::vector<Blocks> blocks;  // elements, one a tensor
  for (const OperationPtr& operation : job.operations) {
    const auto rows = static_cast<std::size_t>(operation->what.request.shape[0]);
    blocks.push_back(Blocks::Rows(rows, RowBytes(*operation) / size, team.size()));
    operation->output_shape =
        WithRows(*operation,
                 static_cast<std::int64_t>(Blocks::Rows(rows, 1, team.size())[team.rank()].size));
  }
  std::vector<kernels::Piece> in;
  std::vector<std::size_t> shares(team.size(), 0);
  for (int rank = 0; rank < team.size(); ++rank) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      auto* input = static_cast<std::byte*>(const_cast<void*>(job.operations[i]->what.input));
      const auto& block = blocks[i][rank];
      shares[rank] += block.size;
      if (block.size > 0) in.push_back({input + block.offset * size, block.size});
    }
  }
  std::vector<kernels::Piece> out;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto& block = blocks[i][team.rank()];
    if (block.size > 0) out.push_back({job.operations[i]->what.output, block.size});
  }
  return collectives::Reducescatter(team, MutableBuffer(type, in), Blocks::Packed(shares),
                                    MutableBuffer(type, out),
                                    {job.op(), job.bucket->prescale, job.postscale()});
}

}  // namespace horovodx::runtime

// BucketJob: a bucket with this rank's tensors, ready to run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "horovodx/collectives/select.h"
#include "horovodx/negotiation/message.h"
#include "horovodx/runtime/operation.h"
#include "kernels/pack.h"

namespace horovodx::runtime {

struct BucketJob {
  const negotiation::Bucket* bucket = nullptr;     // borrowed from the member until it has ended
  std::vector<OperationPtr> operations;            // one an entry; null where this rank has joined
  collectives::AllreduceAlgorithm algorithm = {};  // of an allreduce over links
  bool hierarchical_allgather = false;             // asked for
  int set_size = 1;
  int set_rank = 0;

  // The reduction to run: averages are sums.
  ReduceOp op() const { return bucket->op == ReduceOp::kAverage ? ReduceOp::kSum : bucket->op; }
  // What the reduced elements are multiplied with: formed in double precision, applied once.
  double postscale() const {
    return bucket->op == ReduceOp::kAverage ? bucket->postscale / set_size : bucket->postscale;
  }
  std::size_t bytes() const {
    std::size_t elements = 0;
    for (const auto& entry : bucket->entries) elements += entry.elements;
    return elements * SizeOf(bucket->type);
  }
  // Somebody blocks on one of its tensors.
  bool waited() const {
    return std::any_of(operations.begin(), operations.end(), [](const OperationPtr& operation) {
      return operation != nullptr && operation->waited.load(std::memory_order_relaxed);
    });
  }
  // The tensors as pieces; null data where this rank has none.
  void Inputs(std::vector<kernels::Piece>& pieces) const {
    pieces.clear();
    for (std::size_t i = 0; i < operations.size(); ++i) {
      void* data = operations[i] ? const_cast<void*>(operations[i]->what.input) : nullptr;
      pieces.push_back({data, bucket->entries[i].elements});
    }
  }
  void Outputs(std::vector<kernels::Piece>& pieces) const {
    pieces.clear();
    for (std::size_t i = 0; i < operations.size(); ++i) {
      pieces.push_back(
          {operations[i] ? operations[i]->what.output : nullptr, bucket->entries[i].elements});
    }
  }
};

}  // namespace horovodx::runtime

// What leaves when: how the tensors of a repeated step are cut into buckets. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "horovodx/schedule/cost_model.h"

namespace horovodx::schedule {

// One tensor of the step, in the order in which the step's tensors become ready.
struct Tensor {
  double ready = 0.0;       // seconds after the step's first tensor
  std::uint64_t bytes = 0;  // that one collective moves
  int mix = 0;              // tensors of equal mix may share a bucket
  int group = -1;           // tensors of one group leave together; -1: no group
};

struct Options {
  std::uint64_t threshold = 128u << 20;           // bytes of a bucket; 0: nothing is merged
  CostModel cost = CostModel(100e-6, 1.0 / 4e9);  // of one collective
  std::uint64_t bucket_bytes = 25u << 20;         // for the rule "buckets"
};

// Buckets, each a run of neighbours; together they are 0, 1, ..., n-1.
using Buckets = std::vector<std::vector<int>>;

// Wait-free backpropagation: every tensor leaves by itself as soon as it is ready. Groups stay
// whole as far as they are neighbours and may mix.
Buckets CutWfbp(const std::vector<Tensor>& tensors, const Options& options);

// Horovod's rule, played through in advance: when the line is free, everything that is ready then
// and may be merged leaves, up to the threshold. O(n).
Buckets CutFusion(const std::vector<Tensor>& tensors, const Options& options);

// Buckets of a fixed size: one is closed by the tensor with which it holds `bucket_bytes`. O(n).
Buckets CutFixed(const std::vector<Tensor>& tensors, const Options& options);

// Merged-gradient wait-free backpropagation (Shi, Chu and Li, 2019), the published greedy rule:
// what is to leave waits for the next tensor iff that one is ready less than a latency after it
// could have left. O(n).
Buckets CutMgWfbp(const std::vector<Tensor>& tensors, const Options& options);

// The cut whose last bucket ends earliest. Exact, by dynamic programming. O(n) for a line, O(n * k)
// for k pieces of lines, O(n^2) for any other cost. Of buckets that delay nothing by being one, one
// is made.
Buckets CutOptimal(const std::vector<Tensor>& tensors, const Options& options);

// "wfbp", "fusion", "buckets", "mgwfbp", "optimal".
std::span<const std::string_view> RuleNames();

// By the name of the rule; "fusion" for everything else.
Buckets Cut(std::string_view rule, const std::vector<Tensor>& tensors, const Options& options);

}  // namespace horovodx::schedule

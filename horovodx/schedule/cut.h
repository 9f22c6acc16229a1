// What leaves when: how the tensors of a repeated step are cut into buckets. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace horovodx::schedule {

// One tensor of the step, in the order in which the step's tensors become ready.
struct Tensor {
  double ready = 0.0;       // seconds after the step's first tensor
  std::uint64_t bytes = 0;  // that one collective moves
  int mix = 0;              // tensors of equal mix may share a bucket
  int group = -1;           // tensors of one group leave together; -1: no group
};

struct Options {
  std::uint64_t threshold = 128u << 20;  // bytes of a bucket; 0: nothing is merged
  // What one collective costs: latency + bytes * seconds_per_byte.
  double latency = 100e-6;
  double seconds_per_byte = 1.0 / 4e9;
};

// Buckets, each a run of neighbours; together they are 0, 1, ..., n-1.
using Buckets = std::vector<std::vector<int>>;

// Wait-free backpropagation: every tensor leaves by itself as soon as it is ready. Groups stay
// whole as far as they are neighbours and may mix.
Buckets CutWfbp(const std::vector<Tensor>& tensors, const Options& options);

// Horovod's rule, played through in advance: when the line is free, everything that is ready then
// and may be merged leaves, up to the threshold. O(n).
Buckets CutFusion(const std::vector<Tensor>& tensors, const Options& options);

// By the name of the rule: "wfbp", or "fusion" for this and everything else.
Buckets Cut(const std::string& rule, const std::vector<Tensor>& tensors, const Options& options);

}  // namespace horovodx::schedule

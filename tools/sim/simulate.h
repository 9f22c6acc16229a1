// One training step on a cluster that need not exist. Pure.
#pragma once

#include <string>
#include <vector>

#include "horovodx/schedule/cut.h"
#include "horovodx/schedule/play.h"

namespace horovodx::sim {

// Gradients in the order in which they become ready, and when, counted from the start of the
// backward pass.
struct Workload {
  double forward = 0.0;   // seconds
  double backward = 0.0;  // until the last gradient is ready, or longer
  std::vector<schedule::Tensor> tensors;
};

struct Step {
  schedule::Buckets buckets;
  std::vector<schedule::Played> played;  // one for each; times from the start of the backward pass
  std::vector<schedule::Played> gathered;  // the second halves, bucket by bucket; else empty
  double seconds = 0.0;                    // of the whole step
  double exposed = 0.0;                    // of it, what communication adds to computing
  double busy = 0.0;                       // what communication takes, hidden or not
};

// Backward while buckets travel one after another; the next step starts when both have ended.
Step Simulate(const Workload& work, const std::string& rule, const schedule::Options& options);

// The same with every allreduce in two halves: reduce-scatters travel during the backward pass,
// then allgathers, first layers first, during the next forward pass, in which a layer waits for its
// own. A half takes half of what the whole takes. A layer's share of the forward pass is its share
// of the backward pass. `seconds` is from the start of one backward pass to the start of the next.
Step SimulateSplit(const Workload& work, const std::string& rule, const schedule::Options& options);

}  // namespace horovodx::sim

// Buckets of one tensor each become buckets that run as one. Pure.
#pragma once

#include <string>
#include <vector>

#include "horovodx/fusion/fusion_plan.h"
#include "horovodx/negotiation/message.h"
#include "horovodx/schedule/cut.h"

namespace horovodx::negotiation {

// A validated tensor and what assembling needs to know about it besides.
struct Single {
  Bucket bucket;       // of one entry
  std::string group;   // empty: none
  double ready = 0.0;  // seconds after the step's first tensor became ready; for plans
};

struct Assembled {
  std::vector<Bucket> buckets;
  std::vector<int> order;  // the index of the single each entry came from, bucket by bucket
};

// What is ready now, merged by the rules of fusion/.
Assembled Fuse(const std::vector<Single>& singles, const fusion::Options& options);

struct CutOptions {
  std::string rule = "fusion";  // one of schedule::RuleNames()
  schedule::Options schedule;
  bool disable_group_fusion = false;  // as in fusion/
  // As if a collective took no time, so that nothing waits for what comes later.
  bool cautious = false;
};

struct CutStep {
  std::vector<Bucket> buckets;
  std::vector<schedule::Tensor> tensors;  // of the step
  schedule::Buckets parts;                // their indices, bucket by bucket
};

// A step that repeats, cut by the rules of schedule/.
CutStep CutPlan(const std::vector<Single>& step, CutOptions options);

}  // namespace horovodx::negotiation

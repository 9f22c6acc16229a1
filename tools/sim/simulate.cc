#include "tools/sim/simulate.h"

#include <algorithm>

namespace horovodx::sim {

Step Simulate(const Workload& work, const std::string& rule, const schedule::Options& options) {
  Step step;
  step.buckets = schedule::Cut(rule, work.tensors, options);
  step.played = schedule::Play(work.tensors, step.buckets, options.cost);
  step.exposed = std::max(0.0, schedule::EndOf(step.played) - work.backward);
  step.seconds = work.forward + work.backward + step.exposed;
  for (const schedule::Played& p : step.played) step.busy += p.end - p.start;
  return step;
}

}  // namespace horovodx::sim

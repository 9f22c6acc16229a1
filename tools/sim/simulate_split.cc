#include <algorithm>

#include "tools/sim/simulate.h"

namespace horovodx::sim {
namespace {

schedule::CostModel HalfOf(const schedule::CostModel& cost) {
  return schedule::CostModel::Of([cost](std::uint64_t bytes) { return 0.5 * cost.Seconds(bytes); });
}

// How long each tensor's layer took backward, by the gaps between their readiness.
std::vector<double> BackwardTimes(const Workload& work) {
  std::vector<double> times;
  double before = 0.0;
  for (const schedule::Tensor& t : work.tensors) {
    times.push_back(std::max(0.0, t.ready - before));
    before = std::max(before, t.ready);
  }
  return times;
}

}  // namespace

Step SimulateSplit(const Workload& work, const std::string& rule,
                   const schedule::Options& options) {
  schedule::Options half = options;
  half.cost = HalfOf(options.cost);
  Step step = Simulate(work, rule, half);
  const std::vector<double> backward = BackwardTimes(work);
  const double share = work.backward > 0.0 ? work.forward / work.backward : 0.0;
  double line_free = schedule::EndOf(step.played);
  double computed = work.backward;
  step.gathered.resize(step.buckets.size());
  // The last bucket holds the first layers.
  for (std::size_t b = step.buckets.size(); b-- > 0;) {
    schedule::Played& gather = step.gathered[b];
    gather = step.played[b];
    gather.ready = gather.start = line_free;
    gather.end = line_free = gather.start + half.cost.Seconds(gather.bytes);
    computed = std::max(computed, gather.end);
    for (const int t : step.buckets[b]) computed += share * backward[static_cast<std::size_t>(t)];
    step.busy += gather.end - gather.start;
  }
  step.seconds = std::max(computed, work.backward + work.forward);
  step.exposed = step.seconds - work.forward - work.backward;
  return step;
}

}  // namespace horovodx::sim

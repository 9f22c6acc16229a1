#include "horovodx/collectives/predict.h"

#include <algorithm>
#include <cmath>

#include "horovodx/collectives/level_traffic.h"

namespace horovodx::collectives {
namespace {

constexpr double kNear = 1.0;  // doublings: what was measured so near counts as measured
constexpr double kFar = 3.0;   // doublings after which a correction counts half

double Take(const LinkCost& link, const Cost& cost, double flows = 1.0) {
  return static_cast<double>(cost.steps) * link.latency +
         cost.path_bytes * flows * link.seconds_per_byte;
}

}  // namespace

double SecondsByLinks(const LevelTraffic& traffic, const LevelCosts& levels) {
  const double host = Take(levels.host, traffic.host);
  const double net = Take(levels.net, traffic.net, traffic.flows);
  return host + net - traffic.beside * std::min(host, net);
}

double SecondsByLinks(AllreduceAlgorithm algorithm, const SelectInput& input,
                      const LevelCosts& levels, Until until) {
  const LevelTraffic t = LevelTrafficOf(algorithm, input);
  const double all = SecondsByLinks(t, levels);
  if (until == Until::kAll) return all;
  const double after = Take(levels.host, t.host_after_first) + Take(levels.net, t.net_after_first);
  return std::max(all - after, 0.0);
}

Prediction PredictAllreduce(AllreduceAlgorithm algorithm, const SelectInput& input,
                            const AllreduceCosts& costs) {
  Prediction p;
  p.seconds = SecondsByLinks(algorithm, input, costs.levels);
  const std::vector<Correction>& known = costs.Of(algorithm);
  if (known.empty()) return p;
  const double at = std::log2(std::max(1.0, static_cast<double>(input.bytes)));
  const auto above = std::find_if(known.begin(), known.end(),
                                  [&](const Correction& c) { return std::log2(c.bytes) >= at; });
  const Correction& high = above == known.end() ? known.back() : *above;
  const Correction& low = above == known.begin() ? known.front() : *std::prev(above);
  const double below = std::abs(at - std::log2(low.bytes));
  const double over = std::abs(std::log2(high.bytes) - at);
  // Between two, by the nearer one more; beyond all, ever less of the last one.
  const double share = below + over > 0.0 ? below / (below + over) : 0.0;
  double exponent = (1.0 - share) * std::log(low.factor) + share * std::log(high.factor);
  if (&low == &high) exponent = std::log(low.factor) / (1.0 + below / kFar);
  p.seconds *= std::exp(exponent);
  p.away = std::min(below, over);
  p.measured = p.away <= kNear;
  return p;
}

}  // namespace horovodx::collectives

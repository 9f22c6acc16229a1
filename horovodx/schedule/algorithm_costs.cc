#include "horovodx/schedule/algorithm_costs.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "horovodx/collectives/level_traffic.h"
#include "horovodx/schedule/level_fit.h"

namespace horovodx::schedule {
namespace {

constexpr Piece kPrior = {0, 100e-6, 1.0 / 4e9};

double Less(double all, double after) { return std::max(all - after, 0.0); }

LevelPoint PointOf(const collectives::LevelTraffic& t, const Point& measured) {
  const auto steps = [](const collectives::Cost& c) { return static_cast<double>(c.steps); };
  return {.host_steps = Less(steps(t.host), steps(t.host_after_first)),
          .host_bytes = Less(t.host.path_bytes, t.host_after_first.path_bytes),
          .net_steps = Less(steps(t.net), steps(t.net_after_first)),
          .net_bytes = Less(t.net.path_bytes * t.flows, t.net_after_first.path_bytes),
          .seconds = measured.seconds,
          .weight = measured.weight,
          .beside = t.beside};
}

}  // namespace

void AlgorithmCosts::Add(Algorithm algorithm, std::uint64_t bytes, double seconds) {
  fits_.try_emplace(algorithm, kPrior).first->second.Add(bytes, seconds);
  ++samples_;
}

std::uint64_t AlgorithmCosts::SamplesLike(Algorithm algorithm, std::uint64_t bytes) const {
  const auto it = fits_.find(algorithm);
  return it == fits_.end() ? 0 : it->second.SamplesLike(bytes);
}

collectives::AllreduceCosts AlgorithmCosts::Fit() const {
  collectives::AllreduceCosts costs;
  std::vector<LevelPoint> all;
  std::map<Algorithm, std::vector<Point>> points;
  collectives::SelectInput input = team_;
  for (const auto& [algorithm, fit] : fits_) {
    points[algorithm] = fit.Points();
    for (const Point& point : points[algorithm]) {
      input.bytes = static_cast<std::size_t>(point.bytes);
      // What MPI's own does over the links is a guess, and tells nothing of them.
      if (algorithm == Algorithm::kMpi) continue;
      all.push_back(PointOf(collectives::LevelTrafficOf(algorithm, input), point));
    }
  }
  costs.levels = FitLevels(all, costs.levels);
  for (const auto& [algorithm, some] : points) {
    for (const Point& point : some) {
      input.bytes = static_cast<std::size_t>(point.bytes);
      const double predicted =
          collectives::SecondsByLinks(algorithm, input, costs.levels, collectives::Until::kFirst);
      costs.corrections[static_cast<std::size_t>(algorithm)].push_back(
          {std::max(point.bytes, 1.0), point.seconds / std::max(predicted, 1e-9)});
    }
  }
  return costs;
}

std::string Describe(const collectives::LevelCosts& levels) {
  char text[160];
  std::snprintf(text, sizeof text,
                "inside a host %.3g us + %.3g GB/s, between hosts %.3g us + %.3g GB/s",
                1e6 * levels.host.latency, 1e-9 / levels.host.seconds_per_byte,
                1e6 * levels.net.latency, 1e-9 / levels.net.seconds_per_byte);
  return text;
}

}  // namespace horovodx::schedule

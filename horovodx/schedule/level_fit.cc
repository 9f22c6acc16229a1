#include "horovodx/schedule/level_fit.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace horovodx::schedule {
namespace {

constexpr double kSmallError = 0.1;  // of a logarithm: up to here errors count by their square
constexpr double kTie = 1e-4;        // what a unit away from the prior costs, to settle ties
constexpr double kFirstStep = 2.0;   // of the logarithms
constexpr double kLastStep = 0.01;   // one per cent
constexpr double kFarthest = 13.8;   // a million times the prior

// Logarithms of: host latency, host seconds a byte, net latency, net seconds a byte.
using Links = std::array<double, 4>;

// Which of the four move together: each, each level, latencies, bandwidths, all.
constexpr std::array<std::array<int, 4>, 9> kDirections = {{
    {1, 1, 1, 1},
    {0, 0, 1, 1},
    {1, 1, 0, 0},
    {1, 0, 1, 0},
    {0, 1, 0, 1},
    {1, 0, 0, 0},
    {0, 1, 0, 0},
    {0, 0, 1, 0},
    {0, 0, 0, 1},
}};

double Huber(double error) {
  const double size = std::abs(error);
  return size <= kSmallError ? size * size : kSmallError * (2.0 * size - kSmallError);
}

class Search {
 public:
  Search(const std::vector<LevelPoint>& points, const Links& prior)
      : points_(points), prior_(prior) {}

  Links Run() {
    Links at = prior_;
    double least = Misfit(at);
    for (double step = kFirstStep; step >= kLastStep; step *= 0.5) {
      for (int turns = 0; turns < 64 && Walk(at, least, step); ++turns) {
      }
    }
    return at;
  }

 private:
  // One step in every direction that leads down; false if none did.
  bool Walk(Links& at, double& least, double step) const {
    bool moved = false;
    for (const auto& direction : kDirections) {
      for (const double sign : {1.0, -1.0}) {
        Links next = at;
        for (std::size_t i = 0; i < next.size(); ++i) next[i] += sign * step * direction[i];
        const double misfit = Misfit(next);
        if (misfit >= least) continue;
        at = next;
        least = misfit;
        moved = true;
      }
    }
    return moved;
  }

  double Misfit(const Links& links) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < links.size(); ++i) {
      const double away = std::abs(links[i] - prior_[i]);
      if (away > kFarthest) return INFINITY;
      sum += kTie * away * away;
    }
    const double host_latency = std::exp(links[0]);
    const double host_byte = std::exp(links[1]);
    const double net_latency = std::exp(links[2]);
    const double net_byte = std::exp(links[3]);
    for (const LevelPoint& p : points_) {
      const double host = p.host_steps * host_latency + p.host_bytes * host_byte;
      const double net = p.net_steps * net_latency + p.net_bytes * net_byte;
      const double seconds = host + net - p.beside * std::min(host, net);
      sum += p.weight * Huber(std::log(std::max(seconds, 1e-12) / p.seconds));
    }
    return sum;
  }

  const std::vector<LevelPoint>& points_;
  const Links prior_;
};

}  // namespace

collectives::LevelCosts FitLevels(const std::vector<LevelPoint>& points,
                                  const collectives::LevelCosts& prior) {
  if (points.empty()) return prior;
  const Links found =
      Search(points, {std::log(prior.host.latency), std::log(prior.host.seconds_per_byte),
                      std::log(prior.net.latency), std::log(prior.net.seconds_per_byte)})
          .Run();
  return {{std::exp(found[0]), std::exp(found[1])}, {std::exp(found[2]), std::exp(found[3])}};
}

}  // namespace horovodx::schedule

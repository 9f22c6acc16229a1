#include "tools/sim/cluster.h"

#include <algorithm>
#include <limits>

namespace horovodx::sim {
namespace {

using A = collectives::AllreduceAlgorithm;

collectives::SelectInput InputOf(const Cluster& cluster, std::uint64_t bytes) {
  return {.bytes = bytes,
          .ranks = cluster.ranks(),
          .hosts = cluster.hosts,
          .ranks_per_host = cluster.ranks_per_host,
          .overrides = cluster.rules};
}

collectives::LevelCosts LevelsOf(const Cluster& cluster) { return {cluster.host, cluster.net}; }

// What an engine knows that has measured here: its links, and by how much each algorithm that it
// would choose from took longer than they say.
collectives::AllreduceCosts MeasuredOn(const Cluster& cluster, const collectives::SelectInput& in) {
  collectives::AllreduceCosts costs{LevelsOf(cluster), {}};
  const double at = std::max(1.0, static_cast<double>(in.bytes));
  for (const A algorithm : collectives::EligibleAllreduces(in)) {
    const double by_links = SecondsByLinks(algorithm, in, costs.levels);
    if (by_links <= 0.0) continue;
    const double factor = SecondsOf(algorithm, cluster, in.bytes) / by_links;
    costs.corrections[static_cast<std::size_t>(algorithm)] = {{at, factor}};
  }
  return costs;
}

A AsTheEngine(const Cluster& cluster, std::uint64_t bytes) {
  collectives::SelectInput in = InputOf(cluster, bytes);
  const collectives::AllreduceCosts costs = MeasuredOn(cluster, in);
  in.costs = &costs;
  return collectives::SelectAllreduce(in);
}

}  // namespace

Traffic TrafficOf(A algorithm, const Cluster& cluster, std::uint64_t bytes) {
  Traffic t = collectives::LevelTrafficOf(algorithm, InputOf(cluster, bytes));
  if (!cluster.windows && bytes > 0) {
    const Traffic empty = TrafficOf(algorithm, cluster, 0);
    t.host.steps = empty.host.steps;
    t.net.steps = empty.net.steps;
  }
  return t;
}

double SecondsOf(A algorithm, const Cluster& cluster, std::uint64_t bytes) {
  if (cluster.ranks() == 1) return 0.0;
  const Traffic t = TrafficOf(algorithm, cluster, bytes);
  return SecondsByLinks(t, LevelsOf(cluster)) + t.reduced * cluster.reduce;
}

Result<Choice> Choice::Of(std::string_view name) {
  if (name == "auto") return Choice{How::kAuto, A::kRing};
  if (name == "rules") return Choice{How::kRules, A::kRing};
  if (name == "best") return Choice{How::kBest, A::kRing};
  if (const auto algorithm = collectives::AllreduceNamed(name)) {
    return Choice{How::kNamed, *algorithm};
  }
  std::string known = "auto, rules, best";
  for (const A a : collectives::AllAllreduceAlgorithms()) {
    known += ", " + std::string(NameOf(a));
  }
  return Status::InvalidArgument("no allreduce algorithm '" + std::string(name) + "'; there are " +
                                 known);
}

A AlgorithmFor(const Choice& choice, const Cluster& cluster, std::uint64_t bytes) {
  switch (choice.how) {
    case Choice::How::kNamed:
      return choice.named;
    case Choice::How::kAuto:
      return AsTheEngine(cluster, bytes);
    case Choice::How::kRules:
      return collectives::SelectAllreduce(InputOf(cluster, bytes));
    case Choice::How::kBest:
      break;
  }
  A best = A::kRing;
  double least = std::numeric_limits<double>::infinity();
  for (const A algorithm : collectives::AllAllreduceAlgorithms()) {
    const double seconds = SecondsOf(algorithm, cluster, bytes);
    if (seconds >= least) continue;
    least = seconds;
    best = algorithm;
  }
  return best;
}

schedule::CostModel CostOn(const Cluster& cluster, const Choice& choice) {
  return schedule::CostModel::Of([cluster, choice](std::uint64_t bytes) {
    return SecondsOf(AlgorithmFor(choice, cluster, bytes), cluster, bytes);
  });
}

}  // namespace horovodx::sim

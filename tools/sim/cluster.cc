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
  const double host = static_cast<double>(t.host.steps) * cluster.host.latency +
                      t.host.path_bytes * cluster.host.seconds_per_byte;
  const double net = static_cast<double>(t.net.steps) * cluster.net.latency +
                     t.net.path_bytes * t.flows * cluster.net.seconds_per_byte;
  return host + net - t.beside * std::min(host, net) + t.reduced * cluster.reduce;
}

Result<Choice> Choice::Of(std::string_view name) {
  if (name == "auto") return Choice{How::kAuto, A::kRing};
  if (name == "best") return Choice{How::kBest, A::kRing};
  if (const auto algorithm = collectives::AllreduceNamed(name)) {
    return Choice{How::kNamed, *algorithm};
  }
  std::string known = "auto, best";
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

#include "tools/sim/cluster.h"

#include <algorithm>
#include <limits>

#include "horovodx/collectives/allreduce_hierarchical_slices.h"
#include "horovodx/collectives/allreduce_ring.h"
#include "horovodx/collectives/tree_passes.h"

namespace horovodx::sim {
namespace {

using A = collectives::AllreduceAlgorithm;
using collectives::Cost;

collectives::SelectInput InputOf(const Cluster& cluster, std::uint64_t bytes) {
  return {.bytes = bytes,
          .ranks = cluster.ranks(),
          .hosts = cluster.hosts,
          .ranks_per_host = cluster.ranks_per_host,
          .overrides = cluster.rules};
}

Cost Flat(A algorithm, int ranks, std::uint64_t bytes) {
  return CostOfAllreduce(algorithm, {.bytes = bytes, .ranks = ranks, .hosts = ranks});
}

Cost Part(const Cost& whole, double share) {
  Cost part = whole;
  part.path_bytes *= share;
  part.bytes *= share;
  return part;
}

// Rows of ranks in a host, columns across hosts; see allreduce_hierarchical_slices.h.
void AddRowsAndColumns(Traffic& to, const Cluster& c, std::uint64_t bytes) {
  using namespace collectives;
  const auto columns = static_cast<std::size_t>(c.ranks_per_host);
  const std::size_t window = SliceBytes(c.hosts, bytes / columns) * columns;
  for (std::size_t done = 0; done == 0 || done < bytes; done += window) {
    const std::size_t now = std::min<std::size_t>(window, bytes - done);
    to.host =
        to.host + CostOfRingPass(c.ranks_per_host, now) + CostOfRingPass(c.ranks_per_host, now);
    to.net = to.net + CostOfRing(c.hosts, now / columns);
  }
}

// Several hosts with several ranks each. The ranks of a host are neighbours.
Traffic OnTwoLevels(A algorithm, const Cluster& c, std::uint64_t bytes) {
  Traffic t;
  const int local = c.ranks_per_host;
  const double away = static_cast<double>(c.ranks() - local) / (c.ranks() - 1);
  switch (algorithm) {
    case A::kMpi:   // nobody knows; as the ring
    case A::kRing:  // each step waits for the slowest link, one a host
      t.net = Flat(algorithm, c.ranks(), bytes);
      break;
    case A::kTree:
      t.host = Flat(algorithm, local, bytes);
      t.net = Flat(algorithm, c.hosts, bytes);
      break;
    case A::kRecursiveDoubling:
      t.host = Flat(algorithm, local, bytes);
      t.net = Flat(algorithm, c.hosts, bytes);
      t.flows = local;
      break;
    case A::kRecursiveHalvingDoubling:  // near neighbours first, so what goes far is short
      t.host = Flat(algorithm, local, bytes);
      t.net = Flat(algorithm, c.hosts, bytes / static_cast<std::uint64_t>(local));
      t.flows = local;
      break;
    case A::kHierarchical:
      t.host = collectives::CostOfTreePasses(local, bytes);
      t.net = collectives::CostOfRing(c.hosts, bytes);
      break;
    case A::kHierarchicalSlices:
    case A::kTorus:
      AddRowsAndColumns(t, c, bytes);
      t.flows = local;
      break;
    case A::kMasterWorker:
    case A::kAllToAll:
    case A::kRoundRobin: {
      const Cost all = Flat(algorithm, c.ranks(), bytes);
      t.host = Part(all, 1.0 - away);
      t.host.steps = t.host.messages = 0;
      t.net = Part(all, away);
      t.flows = algorithm == A::kMasterWorker ? 1.0 : local;
      break;
    }
  }
  return t;
}

// What is passed on finished is not added up: half of the way, except where all ranks add up all.
double ReducedShare(A algorithm) {
  return algorithm == A::kRecursiveDoubling || algorithm == A::kRoundRobin ? 1.0 : 0.5;
}

}  // namespace

Traffic TrafficOf(A algorithm, const Cluster& cluster, std::uint64_t bytes) {
  Traffic t;
  if (cluster.hosts == 1) {
    t.host = CostOfAllreduce(algorithm, InputOf(cluster, bytes));
  } else if (cluster.ranks_per_host == 1) {
    t.net = CostOfAllreduce(algorithm, InputOf(cluster, bytes));
  } else {
    t = OnTwoLevels(algorithm, cluster, bytes);
  }
  if (!cluster.windows && bytes > 0) {
    const Traffic empty = TrafficOf(algorithm, cluster, 0);
    t.host.steps = empty.host.steps;
    t.net.steps = empty.net.steps;
  }
  t.reduced = ReducedShare(algorithm) * (t.host.path_bytes + t.net.path_bytes);
  return t;
}

double SecondsOf(A algorithm, const Cluster& cluster, std::uint64_t bytes) {
  if (cluster.ranks() == 1) return 0.0;
  const Traffic t = TrafficOf(algorithm, cluster, bytes);
  const Level& host = cluster.host;
  const Level& net = cluster.net;
  return static_cast<double>(t.host.steps) * host.latency +
         static_cast<double>(t.net.steps) * net.latency +
         t.host.path_bytes * host.seconds_per_byte +
         t.net.path_bytes * t.flows * net.seconds_per_byte + t.reduced * cluster.reduce;
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

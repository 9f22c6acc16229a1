#include "horovodx/collectives/level_traffic.h"

#include <algorithm>

#include "horovodx/collectives/allreduce_hierarchical_slices.h"
#include "horovodx/collectives/allreduce_mpi.h"
#include "horovodx/collectives/allreduce_ring.h"
#include "horovodx/collectives/barrier_dissemination.h"
#include "horovodx/collectives/patterns/hypercube.h"
#include "horovodx/collectives/patterns/tree.h"
#include "horovodx/collectives/tree_passes.h"

namespace horovodx::collectives {
namespace {

using A = AllreduceAlgorithm;

Cost Flat(A algorithm, int ranks, std::size_t bytes) {
  return CostOfAllreduce(algorithm, {.bytes = bytes, .ranks = ranks, .hosts = ranks});
}

Cost Part(const Cost& whole, double share) {
  Cost part = whole;
  part.path_bytes *= share;
  part.bytes *= share;
  return part;
}

Cost Steps(int steps, double bytes) {
  return {static_cast<std::uint64_t>(steps), steps == 0 ? 0.0 : bytes, 0, 0};
}

// Rows of ranks in a host, columns across hosts; see allreduce_hierarchical_slices.h.
void AddRowsAndColumns(LevelTraffic& to, int hosts, int local, std::size_t bytes) {
  const auto columns = static_cast<std::size_t>(local);
  const std::size_t window = SliceBytes(hosts, bytes / columns) * columns;
  std::size_t windows = 0;
  for (std::size_t done = 0; done == 0 || done < bytes; done += window) {
    ++windows;
    const std::size_t now = std::min(window, bytes - done);
    to.host = to.host + CostOfRingPass(local, now) + CostOfRingPass(local, now);
    to.net = to.net + CostOfRing(hosts, now / columns);
  }
  to.beside = 1.0 - 1.0 / static_cast<double>(windows);  // see rows_and_columns.h
}

// Several hosts with several ranks each. The ranks of a host are neighbours.
LevelTraffic OnTwoLevels(A algorithm, int hosts, int local, std::size_t bytes) {
  LevelTraffic t;
  const int ranks = hosts * local;
  const double away = static_cast<double>(ranks - local) / (ranks - 1);
  switch (algorithm) {
    case A::kMpi:  // see allreduce_mpi.h
      t = OnTwoLevels(bytes < kMpiSmallBytes ? A::kRecursiveDoubling : A::kRecursiveHalvingDoubling,
                      hosts, local, bytes);
      t.net.steps += CostOfBarrierDissemination(ranks).messages;
      break;
    case A::kRing:  // each step waits for the slowest link, one a host
      t.net = Flat(algorithm, ranks, bytes);
      break;
    case A::kTree:
      t.host = Flat(algorithm, local, bytes);
      t.net = Flat(algorithm, hosts, bytes);
      break;
    case A::kRecursiveDoubling:
      t.host = Flat(algorithm, local, bytes);
      t.net = Flat(algorithm, hosts, bytes);
      t.flows = local;
      break;
    case A::kRecursiveHalvingDoubling:  // near neighbours first, so what goes far is short
      t.host = Flat(algorithm, local, bytes);
      t.net = Flat(algorithm, hosts, bytes / static_cast<std::size_t>(local));
      t.flows = local;
      break;
    case A::kHierarchical:
      t.host = CostOfTreePasses(local, bytes);
      t.net = CostOfRing(hosts, bytes);
      break;
    case A::kHierarchicalSlices:
    case A::kTorus:
      AddRowsAndColumns(t, hosts, local, bytes);
      t.flows = local;
      break;
    case A::kMasterWorker:
    case A::kAllToAll:
    case A::kRoundRobin: {
      const Cost all = Flat(algorithm, ranks, bytes);
      t.host = Part(all, 1.0 - away);
      t.host.steps = t.host.messages = 0;
      t.net = Part(all, away);
      t.flows = algorithm == A::kMasterWorker ? 1.0 : local;
      break;
    }
  }
  return t;
}

// Rank 0 is the root of every tree, and a corner of every hypercube.
void AddWhatFollows(LevelTraffic& to, A algorithm, int hosts, int local, std::size_t bytes) {
  const auto all = static_cast<double>(bytes);
  Cost& far = hosts > 1 ? to.net_after_first : to.host_after_first;
  const int corners = HypercubePattern::Corners(hosts * local);
  switch (algorithm) {
    case A::kTree:
      to.host_after_first = Steps(TreePattern::Depth(local), hosts > 1 ? 0.0 : all);
      if (hosts > 1) to.net_after_first = Steps(TreePattern::Depth(hosts), all);
      break;
    case A::kHierarchical:
      to.host_after_first = Steps(TreePattern::Depth(local), all);
      break;
    case A::kRecursiveDoubling:
    case A::kRecursiveHalvingDoubling:
      if (corners != hosts * local) far = Steps(1, all);
      break;
    case A::kMasterWorker:
      far = Steps(1, all);
      break;
    default:
      break;
  }
}

// What is passed on finished is not added up: half of the way, except where all ranks add up all.
double ReducedShare(A algorithm) {
  return algorithm == A::kRecursiveDoubling || algorithm == A::kRoundRobin ? 1.0 : 0.5;
}

}  // namespace

LevelTraffic LevelTrafficOf(A algorithm, const SelectInput& input) {
  LevelTraffic t;
  if (input.ranks <= 1) return t;
  const int hosts = std::max(input.hosts, 1);
  const int local = (input.ranks + hosts - 1) / hosts;
  if (hosts == 1) {
    t.host = CostOfAllreduce(algorithm, input);
  } else if (local == 1) {
    t.net = CostOfAllreduce(algorithm, input);
  } else {
    t = OnTwoLevels(algorithm, hosts, local, input.bytes);
  }
  AddWhatFollows(t, algorithm, hosts, local, input.bytes);
  t.reduced = ReducedShare(algorithm) * (t.host.path_bytes + t.net.path_bytes);
  return t;
}

}  // namespace horovodx::collectives

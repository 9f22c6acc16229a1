#include "horovodx/collectives/select.h"

#include <algorithm>
#include <array>

#include "horovodx/base/check.h"
#include "horovodx/collectives/allreduce_all_to_all.h"
#include "horovodx/collectives/allreduce_hierarchical.h"
#include "horovodx/collectives/allreduce_hierarchical_slices.h"
#include "horovodx/collectives/allreduce_master_worker.h"
#include "horovodx/collectives/allreduce_mpi.h"
#include "horovodx/collectives/allreduce_recursive_doubling.h"
#include "horovodx/collectives/allreduce_recursive_halving_doubling.h"
#include "horovodx/collectives/allreduce_ring.h"
#include "horovodx/collectives/allreduce_round_robin.h"
#include "horovodx/collectives/allreduce_torus.h"
#include "horovodx/collectives/allreduce_tree.h"
#include "horovodx/collectives/patterns/torus.h"
#include "horovodx/collectives/predict.h"

namespace horovodx::collectives {
namespace {

using A = AllreduceAlgorithm;
using CostFunction = Cost (*)(const SelectInput& input);

template <Cost (*kCost)(int ranks, std::size_t bytes)>
Cost Flat(const SelectInput& in) {
  return kCost(in.ranks, in.bytes);
}
template <Cost (*kCost)(int ranks, int hosts, std::size_t bytes)>
Cost ByHost(const SelectInput& in) {
  return kCost(in.ranks, in.hosts, in.bytes);
}
Cost OfTorus(const SelectInput& in) {
  const bool by_host = in.hosts > 1 && in.ranks_per_host > 1;
  const TorusShape shape =
      by_host ? TorusShape{in.hosts, in.ranks_per_host} : NearestFactors(in.ranks);
  return CostOfTorus(shape.rows, shape.columns, in.bytes);
}

struct Row {
  A algorithm;
  std::string_view name;
  AllreduceFunction function;
  bool keeps_inputs;
  CostFunction cost;
};

// In the order of the enumeration.
constexpr std::array kTable = {
    Row{A::kRing, "ring", AllreduceRing, true, Flat<CostOfRing>},
    Row{A::kRecursiveHalvingDoubling, "recursive_halving_doubling",
        AllreduceRecursiveHalvingDoubling, false, Flat<CostOfRecursiveHalvingDoubling>},
    Row{A::kRecursiveDoubling, "recursive_doubling", AllreduceRecursiveDoubling, false,
        Flat<CostOfRecursiveDoubling>},
    Row{A::kTree, "tree", AllreduceTree, false, Flat<CostOfTree>},
    Row{A::kHierarchical, "hierarchical", AllreduceHierarchical, false, ByHost<CostOfHierarchical>},
    Row{A::kHierarchicalSlices, "hierarchical_slices", AllreduceHierarchicalSlices, true,
        ByHost<CostOfHierarchicalSlices>},
    Row{A::kTorus, "torus", AllreduceTorus, true, OfTorus},
    Row{A::kAllToAll, "all_to_all", AllreduceAllToAll, true, Flat<CostOfAllToAll>},
    Row{A::kMasterWorker, "master_worker", AllreduceMasterWorker, false, Flat<CostOfMasterWorker>},
    Row{A::kRoundRobin, "round_robin", AllreduceRoundRobin, true, Flat<CostOfRoundRobin>},
    Row{A::kMpi, "mpi", AllreduceMpi, true, Flat<CostOfMpi>},
};

static_assert(kTable.size() == kAllreduceAlgorithms);

const Row& RowOf(A algorithm) {
  const Row& row = kTable[static_cast<std::size_t>(algorithm)];
  HVDX_DCHECK(row.algorithm == algorithm);
  return row;
}

// Where the rules change from one algorithm to the next; guesses, until measured.
constexpr std::size_t kSmallBytes = 8 << 10;    // below, steps are all that counts
constexpr std::size_t kLargeBytes = 512 << 10;  // above, bytes are
constexpr int kManyHosts = 8;
constexpr std::size_t kTinyBytes = 1 << 10;  // n times this is still less than a step
constexpr int kFewRanks = 8;                 // n-1 messages at a time are no crowd
constexpr double kWorthIt = 0.95;            // of the time of what the rules say

bool SeveralPerHost(const SelectInput& in) { return in.hosts > 1 && in.hosts < in.ranks; }
// Whoever has said no gets none.
bool MayGoByHost(const SelectInput& in) {
  return SeveralPerHost(in) && in.hierarchical.value_or(true);
}

const AllreduceRule* FirstMatch(std::span<const AllreduceRule> rules, std::size_t bytes) {
  const auto it = std::find_if(rules.begin(), rules.end(), [&](const AllreduceRule& rule) {
    return rule.begin <= bytes && bytes < rule.end;
  });
  return it == rules.end() ? nullptr : &*it;
}

A SelectByHost(const SelectInput& in) {
  return in.bytes < kLargeBytes ? A::kHierarchical : A::kHierarchicalSlices;
}

A SelectBySize(const SelectInput& in) {
  if (in.bytes < kLargeBytes && MayGoByHost(in) && in.hosts >= kManyHosts) {
    return A::kHierarchical;
  }
  // Inside a host a step is next to nothing, and one message a host is less work than one a rank.
  if (in.bytes < kSmallBytes) return MayGoByHost(in) ? A::kHierarchical : A::kRecursiveDoubling;
  if (in.bytes < kLargeBytes) return A::kRecursiveHalvingDoubling;
  return MayGoByHost(in) ? A::kHierarchicalSlices : A::kRing;
}

// What the rules say stays unless another one promises to be clearly faster.
Selected SelectByTime(const SelectInput& in) {
  const auto predicted = [&](A algorithm) {
    const Prediction p = PredictAllreduce(algorithm, in, *in.costs);
    return Selected{algorithm, p.measured ? Why::kMeasured : Why::kPredicted, p.seconds};
  };
  const Selected usual = predicted(SelectBySize(in));
  Selected best = usual;
  for (const A algorithm : EligibleAllreduces(in)) {
    const Selected other = predicted(algorithm);
    if (other.seconds < best.seconds) best = other;
  }
  const bool clearly = best.seconds < usual.seconds - kNoiseSeconds;
  return clearly && best.seconds < kWorthIt * usual.seconds ? best : usual;
}

}  // namespace

std::string_view NameOf(AllreduceAlgorithm algorithm) { return RowOf(algorithm).name; }
AllreduceFunction FunctionOf(AllreduceAlgorithm algorithm) { return RowOf(algorithm).function; }
bool KeepsInputs(AllreduceAlgorithm algorithm) { return RowOf(algorithm).keeps_inputs; }

std::optional<AllreduceAlgorithm> AllreduceNamed(std::string_view name) {
  for (const Row& row : kTable) {
    if (row.name == name) return row.algorithm;
  }
  return std::nullopt;
}

std::span<const AllreduceAlgorithm> AllAllreduceAlgorithms() {
  static const auto kAll = [] {
    std::array<AllreduceAlgorithm, kTable.size()> all{};
    std::transform(kTable.begin(), kTable.end(), all.begin(),
                   [](const Row& row) { return row.algorithm; });
    return all;
  }();
  return kAll;
}

Cost CostOfAllreduce(AllreduceAlgorithm algorithm, const SelectInput& input) {
  return RowOf(algorithm).cost(input);
}

SelectInput InputFor(const topology::HostMap& hosts, const AllreduceWishes& wishes) {
  return {.ranks = hosts.size(),
          .hosts = hosts.hosts(),
          .ranks_per_host = hosts.homogeneous() ? hosts.size() / hosts.hosts() : 0,
          .deterministic = wishes.deterministic,
          .hierarchical = wishes.hierarchical,
          .torus = wishes.torus,
          .overrides = wishes.allreduce};
}

const AllreduceRule* RuleFor(const AllreduceWishes& wishes, std::size_t bytes) {
  return wishes.deterministic ? nullptr : FirstMatch(wishes.allreduce, bytes);
}

std::string_view NameOf(Why why) {
  constexpr std::array<std::string_view, 6> kNames = {"deterministic", "override", "flag",
                                                      "rule",          "measured", "predicted"};
  return kNames[static_cast<std::size_t>(why)];
}

std::vector<AllreduceAlgorithm> EligibleAllreduces(const SelectInput& in) {
  std::vector<A> some = {A::kRing, A::kRecursiveHalvingDoubling, A::kRecursiveDoubling, A::kTree};
  if (MayGoByHost(in)) {
    some.push_back(A::kHierarchical);
    some.push_back(A::kHierarchicalSlices);
  }
  const bool rows_are_hosts = in.hosts > 1 && in.ranks_per_host > 1;  // the same as by slices
  if (!rows_are_hosts && in.torus.value_or(true) && NearestFactors(in.ranks).rows > 1) {
    some.push_back(A::kTorus);
  }
  if (in.ranks <= kFewRanks) some.push_back(A::kAllToAll);
  if (in.native) some.push_back(A::kMpi);
  return some;
}

Selected SelectAllreduceAndSay(const SelectInput& in) {
  const auto say = [&](A algorithm, Why why) {
    const double seconds =
        in.costs == nullptr ? 0.0 : PredictAllreduce(algorithm, in, *in.costs).seconds;
    return Selected{algorithm, why, seconds};
  };
  // The two give the same bits, so the size may choose.
  if (in.deterministic) {
    return say(in.bytes < kTinyBytes ? A::kRoundRobin : A::kAllToAll, Why::kDeterministic);
  }
  if (const AllreduceRule* rule = FirstMatch(in.overrides, in.bytes)) {
    const bool is_there = rule->algorithm != A::kMpi || in.native;  // else the ring takes its place
    return say(is_there ? rule->algorithm : A::kRing, Why::kOverride);
  }
  if (in.torus.value_or(false)) return say(A::kTorus, Why::kFlag);
  if (in.hierarchical.value_or(false) && SeveralPerHost(in))
    return say(SelectByHost(in), Why::kFlag);
  if (in.costs == nullptr || in.ranks <= 1) return say(SelectBySize(in), Why::kRule);
  return SelectByTime(in);
}

}  // namespace horovodx::collectives

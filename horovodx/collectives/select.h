// Which allreduce, and why. Pure: the same input gives the same answer on every rank.
//
// A guarantee comes before a wish, and a wish before an opinion: determinism, the user's rules by
// size, the flags, then the least predicted time (predict.h) if costs are given, else rules by size
// and topology.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "horovodx/base/status.h"
#include "horovodx/collectives/buffer.h"
#include "horovodx/collectives/cost.h"
#include "horovodx/collectives/team.h"
#include "horovodx/topology/host_map.h"
#include "kernels/types.h"

namespace horovodx::collectives {

struct AllreduceCosts;  // predict.h

// Numbers travel between ranks: new ones go to the end.
enum class AllreduceAlgorithm {
  kRing,
  kRecursiveHalvingDoubling,
  kRecursiveDoubling,
  kTree,
  kHierarchical,
  kHierarchicalSlices,
  kTorus,
  kAllToAll,
  kMasterWorker,
  kRoundRobin,
  kMpi,
};
inline constexpr std::size_t kAllreduceAlgorithms = 11;

using AllreduceFunction = Status (*)(Team& team, const MutableBuffer& buffer, ReduceOp op);

// "recursive_doubling": as in the file's name.
std::string_view NameOf(AllreduceAlgorithm algorithm);
std::optional<AllreduceAlgorithm> AllreduceNamed(std::string_view name);
AllreduceFunction FunctionOf(AllreduceAlgorithm algorithm);
// True: partial sums stay in scratch and the buffer is intact as long as any rank has not
// contributed; such an algorithm may work on tensors directly. False: on a copy, if the inputs may
// be needed again.
bool KeepsInputs(AllreduceAlgorithm algorithm);
std::span<const AllreduceAlgorithm> AllAllreduceAlgorithms();

// The sizes for which the user wants an algorithm: begin <= bytes < end.
struct AllreduceRule {
  AllreduceAlgorithm algorithm = AllreduceAlgorithm::kRing;
  std::size_t begin = 0;
  std::size_t end = std::numeric_limits<std::size_t>::max();
};

// "recursive_doubling:0-8K;ring:1M-max": rules, the first that matches counts. Units K, M, G are
// powers of 1024; "max" is no limit; a name alone is all sizes; nothing is no rule. An error names
// the part that is wrong.
Result<std::vector<AllreduceRule>> ParseAllreduceRules(std::string_view text);

// What the user has asked for; the same on all ranks.
struct AllreduceWishes {
  std::vector<AllreduceRule> allreduce;  // HOROVODX_ALLREDUCE
  bool deterministic = false;            // HOROVODX_DETERMINISTIC
  // HOROVOD_HIERARCHICAL_ALLREDUCE and HOROVOD_TORUS_ALLREDUCE: always, never, or (none) as it
  // turns out.
  std::optional<bool> hierarchical = {};
  std::optional<bool> torus = {};
};

// The user's rule for this size, if there is one that counts; borrowed from the wishes.
const AllreduceRule* RuleFor(const AllreduceWishes& wishes, std::size_t bytes);

struct SelectInput {
  std::size_t bytes = 0;
  int ranks = 1;
  int hosts = 1;
  int ranks_per_host = 1;                 // 0: not the same on all
  bool deterministic = false;             // results must not depend on how tensors were merged
  std::optional<bool> hierarchical = {};  // as in AllreduceWishes
  std::optional<bool> torus = {};         // the same
  bool native = false;  // MPI's own can run it: its links, and a type and operation it has
  std::span<const AllreduceRule> overrides = {};  // borrowed
  const AllreduceCosts* costs = nullptr;          // borrowed; null: nothing has been measured
};

// Of this team, for any number of bytes; borrows the wishes' rules.
SelectInput InputFor(const topology::HostMap& hosts, const AllreduceWishes& wishes);

// kMeasured: by predicted time, and this algorithm has run at about this size; kPredicted: it has
// not.
enum class Why { kDeterministic, kOverride, kFlag, kRule, kMeasured, kPredicted };
std::string_view NameOf(Why why);  // "measured"

struct Selected {
  AllreduceAlgorithm algorithm = AllreduceAlgorithm::kRing;
  Why why = Why::kRule;
  double seconds = 0.0;  // predicted; 0 without costs
};
Selected SelectAllreduceAndSay(const SelectInput& input);
inline AllreduceAlgorithm SelectAllreduce(const SelectInput& input) {
  return SelectAllreduceAndSay(input).algorithm;
}

// Seconds that measurements of small allreduces differ by for no reason: who promises less than
// that is not chosen for it.
inline constexpr double kNoiseSeconds = 20e-6;

// Those that a choice by time is between: each is the best one somewhere. Never none.
std::vector<AllreduceAlgorithm> EligibleAllreduces(const SelectInput& input);

// What it would cost, by the formulas of the algorithms. Uneven hosts count as the average.
Cost CostOfAllreduce(AllreduceAlgorithm algorithm, const SelectInput& input);

}  // namespace horovodx::collectives

// A cluster that need not exist: what an allreduce would take on it. Pure.
//
// Messages and bytes are those the collectives count of themselves, told apart by whether they stay
// inside a host (horovodx/collectives/level_traffic.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "horovodx/base/status.h"
#include "horovodx/collectives/level_traffic.h"
#include "horovodx/collectives/predict.h"
#include "horovodx/collectives/select.h"
#include "horovodx/schedule/cost_model.h"

namespace horovodx::sim {

using Level = collectives::LinkCost;
using Traffic = collectives::LevelTraffic;

struct Cluster {
  int hosts = 1;
  int ranks_per_host = 1;
  Level host;           // between ranks of one host
  Level net;            // between hosts; the ranks of a host share its bandwidth
  double reduce = 0.0;  // seconds a byte that is added up
  // False: every message is as long as it needs to be, as publications assume. True: long buffers
  // go in windows and pieces, as in the engine, and each message has its latency.
  bool windows = true;
  std::vector<collectives::AllreduceRule> rules;  // HOROVODX_ALLREDUCE; for kAuto, kRules

  int ranks() const { return hosts * ranks_per_host; }
};

// Messages and bytes of an allreduce on this cluster.
Traffic TrafficOf(collectives::AllreduceAlgorithm algorithm, const Cluster& cluster,
                  std::uint64_t bytes);

// What an allreduce takes; nothing among one rank.
double SecondsOf(collectives::AllreduceAlgorithm algorithm, const Cluster& cluster,
                 std::uint64_t bytes);

// "auto": what the engine would choose once it has measured; "rules": what it does before, and with
// HOROVODX_SELECTION=rules. "best": the one that takes least. Else the name of an algorithm.
struct Choice {
  enum class How { kAuto, kRules, kBest, kNamed };
  How how = How::kAuto;
  collectives::AllreduceAlgorithm named = collectives::AllreduceAlgorithm::kRing;

  static Result<Choice> Of(std::string_view name);
};
collectives::AllreduceAlgorithm AlgorithmFor(const Choice& choice, const Cluster& cluster,
                                             std::uint64_t bytes);

// As the schedules want it.
schedule::CostModel CostOn(const Cluster& cluster, const Choice& choice);

}  // namespace horovodx::sim

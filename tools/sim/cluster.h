// A cluster that need not exist: what an allreduce would take on it. Pure.
//
// Messages and bytes are those the collectives count of themselves (horovodx/collectives/cost.h),
// told apart by whether they stay inside a host.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "horovodx/base/status.h"
#include "horovodx/collectives/select.h"
#include "horovodx/schedule/cost_model.h"

namespace horovodx::sim {

// What a message takes: latency + bytes * seconds_per_byte.
struct Level {
  double latency = 0.0;
  double seconds_per_byte = 0.0;
};

struct Cluster {
  int hosts = 1;
  int ranks_per_host = 1;
  Level host;           // between ranks of one host
  Level net;            // between hosts; the ranks of a host share its bandwidth
  double reduce = 0.0;  // seconds a byte that is added up
  // False: every message is as long as it needs to be, as publications assume. True: long buffers
  // go in windows and pieces, as in the engine, and each message has its latency.
  bool windows = true;
  std::vector<collectives::AllreduceRule> rules;  // HOROVODX_ALLREDUCE; for kAuto

  int ranks() const { return hosts * ranks_per_host; }
};

// Messages and bytes of an allreduce on this cluster.
struct Traffic {
  collectives::Cost host;
  collectives::Cost net;
  double flows = 1.0;    // ranks of a host that use its network at the same time
  double reduced = 0.0;  // bytes added up along the way
};
Traffic TrafficOf(collectives::AllreduceAlgorithm algorithm, const Cluster& cluster,
                  std::uint64_t bytes);

// What an allreduce takes; nothing among one rank.
double SecondsOf(collectives::AllreduceAlgorithm algorithm, const Cluster& cluster,
                 std::uint64_t bytes);

// "auto": what the engine would choose by its rules. "best": the one that takes least. Else the
// name of an algorithm.
struct Choice {
  enum class How { kAuto, kBest, kNamed };
  How how = How::kAuto;
  collectives::AllreduceAlgorithm named = collectives::AllreduceAlgorithm::kRing;

  static Result<Choice> Of(std::string_view name);
};
collectives::AllreduceAlgorithm AlgorithmFor(const Choice& choice, const Cluster& cluster,
                                             std::uint64_t bytes);

// As the schedules want it.
schedule::CostModel CostOn(const Cluster& cluster, const Choice& choice);

}  // namespace horovodx::sim

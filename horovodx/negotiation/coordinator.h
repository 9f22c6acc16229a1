// Coordinator: rank 0's half of the agreement, for all process sets. Pure: no clock, no thread, no
// I/O.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "horovodx/base/clock.h"
#include "horovodx/base/status.h"
#include "horovodx/collectives/select.h"
#include "horovodx/negotiation/algorithm_choice.h"
#include "horovodx/negotiation/message.h"
#include "horovodx/negotiation/plan_meter.h"
#include "horovodx/topology/host_map.h"
#include "horovodx/transport/native_allreduce.h"
#include "horovodx/tuning/autotuner.h"

namespace horovodx::negotiation {

// A plan that starts, as far as it is worth telling.
struct PlanSeen {
  std::int32_t set = 0;
  std::uint32_t epoch = 0;
  std::string rule;
  bool cautious = false;  // only tensors that come at the same moment share a bucket
  std::size_t tensors = 0;
  std::size_t buckets = 0;
  double predicted = 0.0;  // seconds from a step's first tensor to its last result
  std::string cost;        // of an allreduce, by which that is so
};

// Told what happens to each tensor while it is negotiated, and of plans; the timeline listens.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void NegotiationStarted(const std::string& name, Kind kind) = 0;
  virtual void RankReady(const std::string& name, int set_rank) = 0;
  virtual void NegotiationEnded(const std::string& name) = 0;
  virtual void PlanStarted(const PlanSeen& plan) = 0;
  // Before this bucket, counted over all rounds.
  virtual void PlanEnded(std::int32_t set, std::uint64_t bucket, const std::string& why) = 0;
};

struct CoordinatorOptions {
  int size = 1;                                 // ranks of the world
  std::vector<std::vector<std::int32_t>> sets;  // [0] is the world; static sets follow, in order
  std::uint64_t fusion_threshold = 128u << 20;
  bool disable_group_fusion = false;
  std::size_t cache_capacity = 1024;
  bool plans = true;
  int repeats_before_plan = 3;             // identical steps seen before a plan is made
  std::string schedule = "fusion";         // one of schedule::RuleNames()
  std::uint64_t bucket_bytes = 25u << 20;  // for the schedule "buckets"
  PlanMeter::Options replan;               // when a plan is made anew
  topology::HostMap hosts;                 // of the world; empty: one host
  collectives::AllreduceWishes allreduce;
  transport::NativeKinds native;     // what MPI's own allreduce can do, where links are MPI's
  std::uint32_t segment = 0;         // of allreduces over links; 0: each algorithm's own
  bool measured_selection = true;    // allreduce algorithms by what they took; false: by rules
  tuning::AutotuneOptions autotune;  // of the world's set
  bool dynamic_sets = false;
  bool stall_check = true;
  Duration stall_warning = std::chrono::seconds(60);
  Duration stall_shutdown = Duration::zero();  // zero: never
  Observer* observer = nullptr;                // borrowed, may be null
};

// One message for some ranks.
using Outgoing = DownRecord;

class Coordinator {
 public:
  explicit Coordinator(CoordinatorOptions options);
  ~Coordinator();

  // A message from a member.
  void OnMessage(int from, const UpMessage& message, TimePoint now);
  // A bucket has run on rank 0.
  void OnMeasured(const Measured& bucket);
  // What is known of a set's costs; null if there is no such set.
  const PlanMeter* meter(std::int32_t set) const;
  const AlgorithmChoice* choice(std::int32_t set) const;
  // What tuning has tried since the last call.
  std::vector<tuning::Tried> TakeScores();
  // Stall checks. Warnings are logged.
  void OnTime(TimePoint now);
  TimePoint next_time() const;
  // Messages to deliver since the last call, in order.
  std::vector<Outgoing> TakeMessages();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace horovodx::negotiation

// What an engine is told when it starts; bootstrap.cc fills it from the configuration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "horovodx/base/clock.h"
#include "horovodx/collectives/select.h"
#include "horovodx/mpi/abi.h"
#include "horovodx/negotiation/plan_meter.h"
#include "horovodx/tuning/autotuner.h"

namespace horovodx::runtime {

// What hvd.mpi_enabled() and its like answer: by what ranks meet and hosts are linked.
struct Backends {
  bool mpi = false;
  bool gloo = true;  // our own
  bool mpi_threads = false;
  mpi::Comm comm = nullptr;  // of the job, if MPI is in use
};

struct EngineOptions {
  Backends backends;
  std::vector<std::vector<int>> process_sets;  // besides the world, same order on all ranks
  bool dynamic_process_sets = false;

  std::uint64_t fusion_threshold = std::uint64_t{128} << 20;
  bool disable_group_fusion = false;
  std::size_t cache_capacity = 1024;
  Duration cycle_time = Duration::zero();  // a batching window; zero: none
  bool plans = true;
  std::string schedule = "optimal";
  std::uint64_t bucket_bytes = std::uint64_t{25} << 20;
  negotiation::PlanMeter::Options replan;
  collectives::AllreduceWishes execute;
  bool hierarchical_allgather = false;
  std::uint32_t segment = 0;  // of allreduces over links; 0: each algorithm's own
  tuning::AutotuneOptions autotune;
  std::string autotune_log;        // a file, written by rank 0; empty: none
  bool measured_selection = true;  // allreduce algorithms by what they took; false: by rules

  bool stall_check = true;
  Duration stall_warning = std::chrono::seconds(60);
  Duration stall_shutdown = Duration::zero();

  Duration time_limit = std::chrono::seconds(30);  // no byte moved for this long: an error
  Duration patience = std::chrono::seconds(1);     // of a planned step without progress
  // When a link breaks, the rank at its other end may only have given up because of a third one,
  // and news of that is on its way: who died is told before who left.
  Duration wait_for_news = std::chrono::milliseconds(250);
  Duration shutdown_limit = std::chrono::seconds(10);  // for an orderly end

  std::optional<int>
      spin_microseconds;    // of blocked callers; none: by cores and ranks of this host
  std::optional<int> core;  // to run the engine thread on

  bool timeline_enabled = false;  // HOROVOD_TIMELINE was set (the same on all ranks)
  bool timeline = false;          // this rank records
  std::string timeline_file;      // empty: started later
  bool timeline_mark_cycles = false;
};

}  // namespace horovodx::runtime

// Config: every setting of the engine, read from the environment once per init().
//
// Nothing else of the C++ code calls getenv; rooms below get what concerns them as plain option
// structs. Names with HOROVOD_ mean what they mean to Horovod; names with HOROVODX_ are our own.
//
// A variable set to nothing counts as not set. A value that cannot be read is an error where the
// job would come up wrong (who is who, how ranks find each other, our own variables, sizes); where
// it only tunes, one warning names the variable, the value and the default used instead, since
// Horovod reads such values as 0 and old scripts carry them around.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "horovodx/base/clock.h"
#include "horovodx/base/log.h"
#include "horovodx/base/status.h"

namespace horovodx::runtime {

struct Config {
  // Who is who. Local and cross numbers are normally worked out from the hosts; a launcher that
  // says them must be right.
  int rank = 0;
  int size = 1;
  std::optional<int> local_rank;
  std::optional<int> local_size;
  std::optional<int> cross_rank;
  std::optional<int> cross_size;
  std::string hostname = "localhost";
  std::vector<std::string> placed;  // the host of each rank, for messages; empty: not known
  bool elastic = false;

  // How ranks find each other and talk.
  std::string rendezvous_address;  // empty: no store, the process is alone
  int rendezvous_port = -1;
  std::string interface;  // empty: the system's choice
  Duration timeout = std::chrono::seconds(30);
  std::string controller;      // "", "mpi" or "gloo"
  std::string cpu_operations;  // "", "mpi", "gloo" or "ccl"
  std::string secret;          // 32 raw bytes, or empty; never printed
  std::string job_id = "0";
  std::string transport = "auto";  // or "shm", "tcp" (also between ranks of one host)
  bool mpi_threads = true;         // ask MPI to be called by any thread
  std::string mpi_library;         // empty: the launcher's, or the system's
  int streams = 1;                 // TCP connections to each peer; see StreamsToOpen
  bool tls = false;                // encrypt them
  std::string tls_library;         // empty: the process's, or the system's libssl
  Duration heartbeat = std::chrono::seconds(10);
  std::optional<int> spin_microseconds;  // none: by the number of cores

  // What leaves when, and how.
  std::uint64_t fusion_threshold = std::uint64_t{128} << 20;
  std::optional<double> cycle_time_ms;  // none: no batching window
  std::uint64_t cache_capacity = 1024;
  bool disable_group_fusion = false;
  bool dynamic_process_sets = false;
  bool hierarchical_allreduce = false;
  bool hierarchical_allgather = false;
  bool torus_allreduce = false;
  std::uint64_t adasum_chunk = std::uint64_t{1} << 30;
  std::string schedule = "optimal";  // fusion, mgwfbp, wfbp, buckets: see schedule/
  std::uint64_t bucket_bytes = std::uint64_t{25} << 20;
  double replan_share = 0.25;
  bool plans = true;
  std::string allreduce;  // "recursive_doubling:0-8K;ring:1M-max", read where it is used
  std::string selection = "measured";  // or "rules"
  std::uint32_t segment = 0;           // of allreduces over links; 0: each algorithm's own
  bool deterministic = false;
  std::vector<int> cores;  // of the engine thread, by local rank; see PinnedCore

  // Diagnostics.
  std::string timeline;  // a file, or "DYNAMIC": may be started later
  bool timeline_mark_cycles = false;
  bool stall_check = true;
  Duration stall_warning = std::chrono::seconds(60);
  Duration stall_shutdown = Duration::zero();  // zero: never
  LogOptions log;
  bool autotune = false;
  std::string autotune_log;
  int autotune_warmup_samples = 3;
  int autotune_steps_per_sample = 10;
  int autotune_max_samples = 20;
  double autotune_noise = 0.8;

  // The variables that were set (to a value that could be read). Autotuning leaves those alone.
  std::set<std::string> given;
};

// `getenv` is asked for each variable of Describe(), and answers null for one that is not set.
Result<Config> ReadConfig(const std::function<const char*(const char*)>& getenv);

// The core to run the engine thread on, if HOROVOD_THREAD_AFFINITY names one for every local rank;
// too short a list is logged as an error and pins nobody.
std::optional<int> PinnedCore(const Config& config, int local_rank, int local_size);

// TCP connections to make to each peer: `streams`, and a few to choose from if autotuning may.
int StreamsToOpen(const Config& config);

// Every variable, for documentation.
struct VariableDescription {
  std::string name;
  std::string default_value;
  std::string meaning;
};
std::vector<VariableDescription> Describe();

}  // namespace horovodx::runtime

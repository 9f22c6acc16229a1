#include "horovodx/runtime/variables.h"

#include <utility>

namespace horovodx::runtime {
namespace {

std::vector<Variable> WhoIsWho() {
  using C = Config;
  constexpr auto kRefuse = Garbage::kRefuse;
  return {
      {"HOROVOD_RANK", "0", "number of this process among all", kRefuse, Integer(&C::rank, 0)},
      {"HOROVOD_SIZE", "1", "number of processes", kRefuse, Integer(&C::size, 1)},
      {"HOROVOD_LOCAL_RANK", "from the hosts", "number of this process on its host", kRefuse,
       Integer(&C::local_rank, 0)},
      {"HOROVOD_LOCAL_SIZE", "from the hosts", "processes on this host", kRefuse,
       Integer(&C::local_size, 1)},
      {"HOROVOD_CROSS_RANK", "from the hosts", "number of this host among those with my local rank",
       kRefuse, Integer(&C::cross_rank, 0)},
      {"HOROVOD_CROSS_SIZE", "from the hosts", "hosts that have my local rank", kRefuse,
       Integer(&C::cross_size, 1)},
      {"HOROVOD_HOSTNAME", "localhost", "processes with the same name share a host", kRefuse,
       Text(&C::hostname)},
      {"HOROVODX_HOSTS", "none", "where ranks were started, for messages: \"node1:4,node2:4\"",
       Garbage::kWarn, HostOfEachRank(&C::placed)},
      {"HOROVOD_ELASTIC", "0", "read by horovodrun's workers; the engine does nothing with it",
       Garbage::kWarn, Flag(&C::elastic)},
  };
}

std::vector<Variable> HowRanksTalk() {
  using C = Config;
  constexpr auto kRefuse = Garbage::kRefuse;
  return {
      {"HOROVOD_GLOO_RENDEZVOUS_ADDR", "none", "where the rendezvous store listens", kRefuse,
       Text(&C::rendezvous_address)},
      {"HOROVOD_GLOO_RENDEZVOUS_PORT", "none", "its port", kRefuse,
       Integer(&C::rendezvous_port, 1, 65535)},
      {"HOROVOD_GLOO_IFACE", "the system's choice", "network interface for TCP", kRefuse,
       Text(&C::interface)},
      {"HOROVOD_GLOO_TIMEOUT_SECONDS", "30", "time to connect, and longest silence of a peer",
       Garbage::kWarn, SecondsOf(&C::timeout, false)},
      {"HOROVOD_CONTROLLER", "by who started the job",
       "how ranks meet: by mpi, or by the store that horovodrun names (gloo)", kRefuse,
       OneOf(&C::controller, {"mpi", "gloo"},
             "mpi or gloo (only MPI and Gloo are supported as controllers)")},
      {"HOROVOD_CPU_OPERATIONS", "as ranks meet",
       "links between hosts: by mpi, or our own over TCP (gloo; ccl means the same)", kRefuse,
       OneOf(&C::cpu_operations, {"mpi", "gloo", "ccl"})},
      {"HOROVOD_MPI_THREADS_DISABLE", "0", "ask MPI for one thread at a time; links are then TCP",
       Garbage::kWarn, InverseFlag(&C::mpi_threads)},
      {"HOROVODX_MPI_LIBRARY", "the launcher's, or the system's", "the libmpi to use", kRefuse,
       Text(&C::mpi_library)},
      {"HOROVODX_SECRET", "none", "the job's secret, known to all its processes",
       Garbage::kRefuseQuiet, HexSecret(&C::secret)},
      {"HOROVODX_JOB_ID", "0", "tells jobs apart that share a secret or a host", kRefuse,
       Text(&C::job_id)},
      {"HOROVODX_TRANSPORT", "auto", "auto, shm, or tcp or mpi (this also inside a host)", kRefuse,
       OneOf(&C::transport, {"auto", "shm", "tcp", "mpi"})},
      {"HOROVODX_STREAMS", "1",
       "TCP connections to each peer; if not set, autotuning has four to choose from", kRefuse,
       Integer(&C::streams, 1, 64)},
      {"HOROVODX_TLS", "0",
       "encrypt all TCP connections between ranks (TLS 1.3, see SECURITY.md); needs OpenSSL",
       kRefuse, StrictFlag(&C::tls)},
      {"HOROVODX_TLS_LIBRARY", "the process's, or the system's", "the libssl to use", kRefuse,
       Text(&C::tls_library)},
      {"HOROVODX_HEARTBEAT_SECONDS", "10", "a peer silent for this long is lost", kRefuse,
       SecondsOf(&C::heartbeat, false)},
      {"HOROVODX_SPIN_MICROSECONDS", "by the number of cores", "how long to look before sleeping",
       kRefuse, Integer(&C::spin_microseconds, 0, 1'000'000)},
  };
}

std::vector<Variable> WhatLeavesWhen() {
  using C = Config;
  constexpr auto kRefuse = Garbage::kRefuse;
  constexpr auto kWarn = Garbage::kWarn;
  constexpr std::int64_t kMost = std::int64_t{1} << 50;
  return {
      {"HOROVOD_FUSION_THRESHOLD", "134217728", "bytes of tensors sent as one; 0: each by itself",
       kRefuse, Integer(&C::fusion_threshold, 0, kMost)},
      {"HOROVOD_CYCLE_TIME", "none", "milliseconds to wait for more tensors", kWarn,
       Number(&C::cycle_time_ms, 0)},
      {"HOROVOD_CACHE_CAPACITY", "1024", "tensors remembered by number; 0: none", kWarn,
       Integer(&C::cache_capacity, 0)},
      {"HOROVOD_DISABLE_GROUP_FUSION", "0", "groups travel alone", kWarn,
       Flag(&C::disable_group_fusion)},
      {"HOROVOD_DYNAMIC_PROCESS_SETS", "0", "process sets may be added after init", kWarn,
       Flag(&C::dynamic_process_sets)},
      {"HOROVOD_HIERARCHICAL_ALLREDUCE", "by HOROVODX_SELECTION",
       "inside hosts first, then between them; 0: never", kWarn, Flag(&C::hierarchical_allreduce)},
      {"HOROVOD_HIERARCHICAL_ALLGATHER", "0",
       "the same for allgather, where hosts have several ranks", kWarn,
       Flag(&C::hierarchical_allgather)},
      {"HOROVOD_TORUS_ALLREDUCE", "by HOROVODX_SELECTION",
       "along rows, columns, and rows again; 0: never", kWarn, Flag(&C::torus_allreduce)},
      {"HOROVOD_ADASUM_MPI_CHUNK_SIZE", "1073741824",
       "read for Horovod's sake, without effect: no message of ours has a limit to keep", kWarn,
       Integer(&C::adasum_chunk, 1, kMost)},
      {"HOROVOD_THREAD_AFFINITY", "none", "core of the engine thread, one for each local rank",
       Garbage::kError, Cores(&C::cores)},
      {"HOROVODX_SCHEDULE", "optimal",
       "how tensors of a repeated step are merged: optimal, fusion, mgwfbp, wfbp or buckets",
       kRefuse, OneOf(&C::schedule, {"fusion", "wfbp", "buckets", "mgwfbp", "optimal"})},
      {"HOROVODX_BUCKET_BYTES", "26214400", "size of a bucket with HOROVODX_SCHEDULE=buckets",
       kRefuse, Integer(&C::bucket_bytes, 1, kMost)},
      {"HOROVODX_REPLAN", "0.25",
       "share by which costs or readiness must move for another plan; 0: never", kRefuse,
       Number(&C::replan_share, 0)},
      {"HOROVODX_PLANS", "1", "steps that repeat run without asking", kRefuse,
       StrictFlag(&C::plans)},
      {"HOROVODX_ALLREDUCE", "by HOROVODX_SELECTION", "algorithm by size: \"ring:1M-max;...\"",
       kRefuse, Text(&C::allreduce)},
      {"HOROVODX_SELECTION", "measured",
       "allreduce algorithms by the times they take (measured) or by size alone (rules)", kRefuse,
       OneOf(&C::selection, {"measured", "rules"})},
      {"HOROVODX_SEGMENT", "by the algorithm",
       "bytes of a message of a large allreduce between hosts; rank 0's counts", kRefuse,
       Segment(&C::segment)},
      {"HOROVODX_DETERMINISTIC", "0", "the same run gives the same bits, at any cost", kRefuse,
       StrictFlag(&C::deterministic)},
  };
}

std::vector<Variable> Diagnostics() {
  using C = Config;
  constexpr auto kWarn = Garbage::kWarn;
  return {
      {"HOROVOD_TIMELINE", "none", "trace file of rank 0, or DYNAMIC", kWarn, Text(&C::timeline)},
      {"HOROVOD_TIMELINE_MARK_CYCLES", "0", "mark each turn of the engine in it", kWarn,
       Flag(&C::timeline_mark_cycles)},
      {"HOROVOD_STALL_CHECK_DISABLE", "0", "no warnings about missing tensors", kWarn,
       InverseFlag(&C::stall_check)},
      {"HOROVOD_STALL_CHECK_TIME_SECONDS", "60", "warn about a tensor missing for so long", kWarn,
       SecondsOf(&C::stall_warning, false)},
      {"HOROVOD_STALL_SHUTDOWN_TIME_SECONDS", "0", "shut down when one is; 0: never", kWarn,
       SecondsOf(&C::stall_shutdown, true)},
      {"HOROVOD_LOG_LEVEL", "warning", "trace, debug, info, warning, error or fatal", kWarn,
       Level()},
      {"HOROVOD_LOG_HIDE_TIME", "0", "no time in log lines", kWarn, HideTime()},
      {"HOROVOD_AUTOTUNE", "0", "search for the best settings while training", kWarn,
       Flag(&C::autotune)},
      {"HOROVOD_AUTOTUNE_LOG", "none", "CSV file of what was tried", kWarn, Text(&C::autotune_log)},
      {"HOROVOD_AUTOTUNE_WARMUP_SAMPLES", "3", "scores thrown away first", kWarn,
       Integer(&C::autotune_warmup_samples, 0)},
      {"HOROVOD_AUTOTUNE_STEPS_PER_SAMPLE", "10", "steps in a score", kWarn,
       Integer(&C::autotune_steps_per_sample, 1)},
      {"HOROVOD_AUTOTUNE_BAYES_OPT_MAX_SAMPLES", "20", "settings tried at most", kWarn,
       Integer(&C::autotune_max_samples, 1)},
      {"HOROVOD_AUTOTUNE_GAUSSIAN_PROCESS_NOISE", "0.8", "noise assumed in scores", kWarn,
       Number(&C::autotune_noise, 0)},
  };
}

}  // namespace

std::vector<Variable> Variables() {
  std::vector<Variable> all;
  for (auto* some : {&WhoIsWho, &HowRanksTalk, &WhatLeavesWhen, &Diagnostics}) {
    for (auto& variable : some()) all.push_back(std::move(variable));
  }
  return all;
}

}  // namespace horovodx::runtime

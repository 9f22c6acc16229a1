#include "horovodx/runtime/bootstrap.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <utility>

#include "horovodx/base/log.h"
#include "horovodx/runtime/connect_fabric.h"

namespace horovodx::runtime {
namespace {

// A set given twice, or the world given again, has the id of the first: here it is left out, and
// the Python layer tells the user.
std::vector<std::vector<int>> WithoutRepeats(std::vector<std::vector<int>> sets, int size) {
  std::vector<std::vector<int>> unique(1, std::vector<int>(static_cast<std::size_t>(size)));
  std::iota(unique[0].begin(), unique[0].end(), 0);
  for (auto& set : sets) {
    std::sort(set.begin(), set.end());
    if (std::find(unique.begin(), unique.end(), set) == unique.end()) unique.push_back(set);
  }
  unique.erase(unique.begin());
  return unique;
}

const char* Environment(const char* name) { return std::getenv(name); }

Backends BackendsOf(const Config& config, const MpiJob* job) {
  Backends backends;
  backends.mpi = job != nullptr;
  backends.gloo = job == nullptr || (config.size > 1 && !job->links());
  backends.comm = job != nullptr ? job->comm() : nullptr;
  backends.mpi_threads = job != nullptr && job->threads() == mpi::Threads::kMultiple;
  return backends;
}

// Whoever has set a variable has fixed it.
tuning::AutotuneOptions AutotuneFrom(const Config& config) {
  tuning::AutotuneOptions to;
  to.enabled = config.autotune;
  to.warmup_samples = config.autotune_warmup_samples;
  to.steps_per_sample = config.autotune_steps_per_sample;
  to.search.max_samples = config.autotune_max_samples;
  to.search.noise = config.autotune_noise;
  to.search.first = {.schedule = config.schedule,
                     .hierarchical_allreduce = config.hierarchical_allreduce,
                     .torus_allreduce = config.torus_allreduce,
                     .cycle_time_ms = config.cycle_time_ms.value_or(0.0),
                     .fusion_threshold = config.fusion_threshold,
                     .segment = config.segment,
                     .streams = config.streams};
  if (config.given.count("HOROVODX_SCHEDULE") == 0) {
    to.search.free.schedules = {"fusion", "optimal"};
  }
  to.search.free.fusion_threshold = config.given.count("HOROVOD_FUSION_THRESHOLD") == 0;
  to.search.free.segment = config.given.count("HOROVODX_SEGMENT") == 0;
  if (config.given.count("HOROVODX_STREAMS") == 0) {
    to.search.free.most_streams = StreamsToOpen(config);
  }
  return to;
}

}  // namespace

Result<EngineOptions> OptionsFrom(const Config& config,
                                  std::vector<std::vector<int>> process_sets) {
  EngineOptions to;
  to.process_sets = std::move(process_sets);
  to.dynamic_process_sets = config.dynamic_process_sets;
  to.fusion_threshold = config.fusion_threshold;
  to.disable_group_fusion = config.disable_group_fusion;
  to.cache_capacity = config.cache_capacity;
  to.cycle_time = Seconds(config.cycle_time_ms.value_or(0.0) / 1000.0);
  to.plans = config.plans;
  to.schedule = config.schedule;
  to.bucket_bytes = config.bucket_bytes;
  to.replan.share = config.replan_share;
  auto rules = collectives::ParseAllreduceRules(config.allreduce);
  if (!rules.ok()) {
    return Status::InvalidArgument("HOROVODX_ALLREDUCE: " + rules.status().message());
  }
  to.execute.allreduce = std::move(rules).value();
  to.execute.deterministic = config.deterministic;
  // Not said is not no: then what is measured decides.
  const auto said = [&](const char* name, bool value) {
    return config.given.count(name) > 0 ? std::optional(value) : std::nullopt;
  };
  to.execute.hierarchical = said("HOROVOD_HIERARCHICAL_ALLREDUCE", config.hierarchical_allreduce);
  to.execute.torus = said("HOROVOD_TORUS_ALLREDUCE", config.torus_allreduce);
  to.hierarchical_allgather = config.hierarchical_allgather;
  to.segment = config.segment;
  to.measured_selection = config.selection == "measured";
  to.autotune = AutotuneFrom(config);
  to.autotune_log = config.autotune_log;
  to.stall_check = config.stall_check;
  to.stall_warning = config.stall_warning;
  to.stall_shutdown = config.stall_shutdown;
  to.time_limit = config.timeout;
  to.spin_microseconds = config.spin_microseconds;
  to.timeline_enabled = !config.timeline.empty();
  to.timeline = to.timeline_enabled && config.rank == 0;
  if (to.timeline && config.timeline != "DYNAMIC") to.timeline_file = config.timeline;
  to.timeline_mark_cycles = config.timeline_mark_cycles;
  return to;
}

Result<std::unique_ptr<Engine>> StartFromEnvironment(int generation,
                                                     std::vector<std::vector<int>> process_sets,
                                                     const Invitation& invitation) {
  HVDX_ASSIGN_OR_RETURN(Config config, ReadConfig(Environment));
  SetLogOptions(config.log);
  const Launcher launcher = FindLauncher(Environment);
  HVDX_ASSIGN_OR_RETURN(const bool by_mpi, MeetsByMpi(config, launcher, invitation));
  std::unique_ptr<MpiJob> job;
  if (by_mpi) {
    HVDX_ASSIGN_OR_RETURN(job, MpiJob::Meet(config, launcher, invitation, process_sets));
  }
  auto sets = WithoutRepeats(std::move(process_sets), config.size);
  HVDX_ASSIGN_OR_RETURN(EngineOptions options, OptionsFrom(config, std::move(sets)));
  options.backends = BackendsOf(config, job.get());
  // A job that met by MPI has a name of its own in every life.
  if (job != nullptr) generation = 0;
  HVDX_ASSIGN_OR_RETURN(auto fabric, ConnectFabric(config, generation, std::move(job)));
  options.core = PinnedCore(config, fabric->hosts().local_rank(config.rank),
                            fabric->hosts().local_size(config.rank));
  return Engine::Start(std::move(fabric), std::move(options));
}

Result<mpi::Library*> LoadMpiFromEnvironment() {
  Config config;  // of which only this counts here
  if (const char* given = Environment("HOROVODX_MPI_LIBRARY")) config.mpi_library = given;
  return mpi::Library::Load(LibraryFor(config, FindLauncher(Environment)));
}

}  // namespace horovodx::runtime

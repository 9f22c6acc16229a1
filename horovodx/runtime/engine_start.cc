// How an engine comes up.
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "horovodx/base/log.h"
#include "horovodx/base/sha256.h"
#include "horovodx/collectives/allgather_bruck.h"
#include "horovodx/runtime/bucket_trace.h"
#include "horovodx/runtime/engine.h"

namespace horovodx::runtime {
namespace {

void PinThisThread(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  if (::pthread_setaffinity_np(::pthread_self(), sizeof(cores), &cores) != 0) {
    HVDX_LOG(kError) << "HOROVOD_THREAD_AFFINITY: cannot run the engine thread on core " << core;
  }
}

// What a rank wants its process sets to be, short enough to compare with everyone's.
struct SetsDigest {
  std::uint64_t sets = 0;
  std::uint64_t ranks = 0;
  Digest values{};
};

SetsDigest DigestOf(const std::vector<std::vector<int>>& sets) {
  SetsDigest digest;
  digest.sets = sets.size();
  std::vector<std::byte> bytes;
  auto append = [&](std::int64_t value) {
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), from, from + sizeof(value));
  };
  for (const auto& set : sets) {
    digest.ranks += set.size();
    append(static_cast<std::int64_t>(set.size()));
    for (int rank : set) append(rank);
  }
  digest.values = Sha256Of(bytes);
  return digest;
}

Status CheckRanks(const std::vector<int>& set, int size) {
  for (int rank : set) {
    if (rank < 0 || rank >= size) {
      return Status::InvalidArgument("Tried to register process set with invalid rank " +
                                     std::to_string(rank) + "; ranks are 0 to " +
                                     std::to_string(size - 1));
    }
  }
  if (std::adjacent_find(set.begin(), set.end()) != set.end()) {
    return Status::InvalidArgument("Tried to register process set with duplicate rank");
  }
  return Status::Ok();
}

}  // namespace

// Lets the timeline see what the coordinator sees.
class Engine::TimelineObserver : public negotiation::Observer {
 public:
  explicit TimelineObserver(Timeline& timeline) : timeline_(timeline) {}
  void NegotiationStarted(const std::string& name, negotiation::Kind kind) override {
    if (timeline_.active()) timeline_.NegotiateStart(name, negotiation::NameOf(kind));
  }
  void RankReady(const std::string& name, int set_rank) override {
    if (timeline_.active()) timeline_.NegotiateRankReady(name, set_rank);
  }
  void NegotiationEnded(const std::string& name) override {
    if (timeline_.active()) timeline_.NegotiateEnd(name);
  }
  void PlanStarted(const negotiation::PlanSeen& plan) override {
    buckets_[plan.set] = plan.buckets;
    timeline_.PlanStart({.set = plan.set,
                         .plan = PlanNumber(plan.epoch),
                         .rule = plan.rule,
                         .cautious = plan.cautious,
                         .tensors = plan.tensors,
                         .buckets = plan.buckets,
                         .predicted = plan.predicted,
                         .cost = plan.cost});
  }
  void PlanEnded(std::int32_t set, std::uint64_t bucket, const std::string& why) override {
    const std::uint64_t in_step = std::max<std::uint64_t>(buckets_[set], 1);
    timeline_.PlanEnd({set, bucket / in_step, bucket % in_step, why});
  }

 private:
  Timeline& timeline_;
  std::map<std::int32_t, std::uint64_t> buckets_;  // of a set's plan
};

Engine::Engine(std::unique_ptr<transport::Fabric> fabric, EngineOptions options)
    : fabric_(std::move(fabric)),
      options_(std::move(options)),
      observer_(std::make_unique<TimelineObserver>(timeline_)),
      queue_(fabric_->rank()),
      idle_wait_(fabric_->hosts().local_size(fabric_->rank()), fabric_->hosts().hosts(),
                 options_.spin_microseconds) {}

Engine::~Engine() { Shutdown(); }

Result<std::unique_ptr<Engine>> Engine::Start(std::unique_ptr<transport::Fabric> fabric,
                                              EngineOptions options) {
  for (auto& set : options.process_sets) {
    std::sort(set.begin(), set.end());
    HVDX_RETURN_IF_ERROR(CheckRanks(set, fabric->hosts().size()));
  }
  std::unique_ptr<Engine> engine(new Engine(std::move(fabric), std::move(options)));
  HVDX_RETURN_IF_ERROR(engine->Connect());
  return engine;
}

Status Engine::Connect() {
  std::vector<int> world(fabric_->hosts().size());
  std::iota(world.begin(), world.end(), 0);
  HVDX_ASSIGN_OR_RETURN(auto mesh,
                        fabric_->MakeMesh(0, world, Deadline::After(options_.time_limit)));
  {
    collectives::Team team(*mesh);
    team.SetTimeLimit(options_.time_limit);
    const Status same = CheckSameSets(team);
    if (same.code() == StatusCode::kUnknown) return fabric_->Explain(NewsOr(same, *mesh));
    HVDX_RETURN_IF_ERROR(same);
  }
  if (options_.timeline && !options_.timeline_file.empty()) {
    timeline_.Start(options_.timeline_file, options_.timeline_mark_cycles);
  }
  MutexLock lock(drive_);
  control_ = std::make_unique<Control>(*fabric_, ForCoordinator(*mesh));
  if (rank() == 0 && options_.autotune.enabled) {
    tuning_log_ = std::make_unique<TuningLog>(options_.autotune_log, options_.cache_capacity > 0);
  }
  process_sets_.Add(0, world);
  queue_.OpenSet(0, world);
  sets_[0] = std::make_unique<SetRunner>(ForSet(0, 0, world), *fabric_, std::move(mesh));
  for (std::size_t i = 0; i < options_.process_sets.size(); ++i) {
    const int id = static_cast<int>(i) + 1;
    const auto& ranks = options_.process_sets[i];
    process_sets_.Add(id, ranks);
    queue_.OpenSet(id, ranks);
    if (std::find(ranks.begin(), ranks.end(), rank()) == ranks.end()) continue;
    // One after the other, in the same order everywhere: no two ranks wait in different sets.
    const auto channel = static_cast<std::uint32_t>(id);
    HVDX_ASSIGN_OR_RETURN(auto set_mesh,
                          fabric_->MakeMesh(channel, ranks, Deadline::After(options_.time_limit)));
    sets_[id] =
        std::make_unique<SetRunner>(ForSet(id, channel, ranks), *fabric_, std::move(set_mesh));
  }
  thread_ = std::thread([this] {
    if (options_.core) PinThisThread(*options_.core);
    Loop();
  });
  HVDX_LOG_RANK(kInfo, rank()) << "Horovod initialized";
  return Status::Ok();
}

// A link has ended during init. Its rank may have left because another one died, of which it has
// told us: the rank that died is to be named.
Status Engine::NewsOr(const Status& what, transport::Mesh& world) {
  Control control(*fabric_, ForCoordinator(world));
  const Deadline until = Deadline::After(options_.wait_for_news);
  while (true) {
    Bell::Listener listener(fabric_->bell());
    std::vector<negotiation::DownMessage> news;
    const bool well = control.Turn(Clock::now(), news).ok();
    for (const auto& message : news) {
      const auto* failed = std::get_if<negotiation::Failed>(&message);
      if (failed != nullptr) return Status::Unknown(failed->why);
    }
    if (!well || !listener.Sleep(until)) return what;
  }
}

Status Engine::CheckSameSets(collectives::Team& team) {
  const SetsDigest mine = DigestOf(options_.process_sets);
  std::vector<SetsDigest> all(team.size());
  all[team.rank()] = mine;
  const std::vector<std::size_t> sizes(team.size(), sizeof(SetsDigest));
  HVDX_RETURN_IF_ERROR(
      collectives::AllgatherBruck(team, collectives::Blocks::Packed(sizes),
                                  MutableBytesOf(all.data(), all.size() * sizeof(SetsDigest))));
  for (int other = 0; other < team.size(); ++other) {
    const char* differs = all[other].sets != mine.sets       ? "mismatching numbers of process sets"
                          : all[other].ranks != mine.ranks   ? "mismatching size"
                          : all[other].values != mine.values ? "mismatching values"
                                                             : nullptr;
    if (differs != nullptr) {
      return Status::InvalidArgument(std::string("process sets: ") + differs + " on ranks " +
                                     std::to_string(team.rank()) + " and " + std::to_string(other));
    }
  }
  return Status::Ok();
}

negotiation::CoordinatorOptions Engine::ForCoordinator(transport::Mesh& world) {
  negotiation::CoordinatorOptions to;
  to.size = fabric_->hosts().size();
  to.sets.emplace_back(to.size);
  std::iota(to.sets[0].begin(), to.sets[0].end(), 0);
  for (const auto& set : options_.process_sets) to.sets.emplace_back(set.begin(), set.end());
  to.fusion_threshold = options_.fusion_threshold;
  to.disable_group_fusion = options_.disable_group_fusion;
  to.cache_capacity = options_.cache_capacity;
  to.plans = options_.plans;
  to.schedule = options_.schedule;
  to.bucket_bytes = options_.bucket_bytes;
  to.replan = options_.replan;
  to.hosts = fabric_->hosts();
  to.allreduce = options_.execute;
  to.native = transport::KindsOf(world.native());
  to.measured_selection = options_.measured_selection;
  to.segment = options_.segment;
  to.autotune = options_.autotune;
  // What would change nothing is not tuned: on the stage there are neither segments nor sockets.
  tuning::Freedom& free = to.autotune.search.free;
  const bool staged =
      world.stage() != nullptr && world.hosts().hosts() == 1 && options_.execute.allreduce.empty();
  free.segment = free.segment && !staged && to.size > 1;
  free.most_streams = staged ? 1 : std::min(free.most_streams, world.streams());
  int& streams = to.autotune.search.first.streams;
  if (free.most_streams > 1 && streams == 0) streams = world.streams();  // to come back to
  to.dynamic_sets = options_.dynamic_process_sets;
  to.stall_check = options_.stall_check;
  to.stall_warning = options_.stall_warning;
  to.stall_shutdown = options_.stall_shutdown;
  to.observer = options_.timeline ? observer_.get() : nullptr;
  return to;
}

SetOptions Engine::ForSet(int set, std::uint32_t channel, std::vector<int> ranks) const {
  SetOptions to;
  to.set = set;
  to.channel = channel;
  to.ranks = std::move(ranks);
  to.member.set = set;
  to.member.cache_capacity = options_.cache_capacity;
  to.member.patience = options_.patience;
  to.execute = options_.execute;
  to.hierarchical_allgather = options_.hierarchical_allgather;
  to.time_limit = options_.time_limit;
  to.timeline = options_.timeline ? const_cast<Timeline*>(&timeline_) : nullptr;
  to.counts = &buckets_;
  const bool serves = options_.plans && negotiation::PlanMeter::Serves(options_.schedule);
  const bool tuning = options_.plans && options_.autotune.enabled;
  to.measure = rank() == 0 && (serves || tuning || options_.timeline);
  to.measure_links = rank() == 0 && options_.measured_selection && !options_.execute.deterministic;
  return to;
}

}  // namespace horovodx::runtime

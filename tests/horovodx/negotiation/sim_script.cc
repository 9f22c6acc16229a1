#include "tests/horovodx/negotiation/sim_script.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace horovodx::negotiation::sim {

std::int64_t Draw(Random& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
}
bool Chance(Random& random, int percent) { return Draw(random, 1, 100) <= percent; }

namespace {

std::string Numbered(std::string word, std::int64_t number) {
  return word.append(std::to_string(number));
}

// What is submitted at once: a tensor, or a group.
struct Unit {
  std::int32_t set = 0;
  std::vector<Request> requests;
};

class Writer {
 public:
  explicit Writer(std::uint64_t seed) : random_(seed) {}

  Job Write() {
    MakeWorld();
    const auto phases = Draw(random_, 2, 6);
    for (int i = 0; i < 3 + Draw(random_, 0, 5); ++i) AddUnit();
    for (phase_ = 0; phase_ < phases; ++phase_) {
      if (Chance(random_, 15)) {
        WriteJoinPhase();
      } else {
        WritePhase();
      }
      Mutate();
    }
    if (Chance(random_, 15)) {
      job_.early_shutdown = std::chrono::microseconds(Draw(random_, 1, 40'000));
    }
    if (Chance(random_, 20)) WriteLonelyTensor();
    return std::move(job_);
  }

 private:
  template <typename T>
  T OneOf(std::initializer_list<T> choices) {
    return choices.begin()[Draw(random_, 0, static_cast<std::int64_t>(choices.size()) - 1)];
  }

  void MakeWorld() {
    auto& c = job_.coordinator;
    c.size = static_cast<int>(Draw(random_, 2, 8));
    std::vector<std::int32_t> world(c.size);
    std::iota(world.begin(), world.end(), 0);
    c.sets = {world};
    for (std::int64_t i = Draw(random_, 0, 2); i > 0; --i) {
      std::vector<std::int32_t> some;
      for (std::int32_t rank : world) {
        if (Chance(random_, 60)) some.push_back(rank);
      }
      if (!some.empty()) c.sets.push_back(some);
    }
    c.cache_capacity = OneOf<std::size_t>({0, 1, 4, 1024, 1024});
    c.repeats_before_plan = static_cast<int>(Draw(random_, 1, 3));
    c.fusion_threshold = OneOf<std::uint64_t>({0, 64, 1000, 1u << 20});
    c.schedule = OneOf<const char*>({"fusion", "wfbp", "buckets", "mgwfbp", "optimal"});
    c.replan = {.share = OneOf({0.0, 0.05, 0.25}),
                .gain = OneOf({0.0, 0.02}),
                .first_check = OneOf<std::uint64_t>({1, 2, 16})};
    c.disable_group_fusion = Chance(random_, 20);
    c.plans = Chance(random_, 95);
    job_.member.cache_capacity = c.cache_capacity;
    job_.member.patience = std::chrono::microseconds(OneOf({300, 3'000, 100'000, 1'000'000}));
    job_.member.most_patience = 30 * job_.member.patience;
    job_.most_delay = std::chrono::microseconds(OneOf({5, 100, 2'000}));
    job_.scripts.resize(c.size);
  }

  Request MakeRequest(std::int32_t set) {
    Request r;
    r.name = Numbered("t", names_++);
    const int kind = static_cast<int>(Draw(random_, 0, 99));
    r.kind = kind < 70   ? Kind::kAllreduce
             : kind < 80 ? Kind::kAllgather
             : kind < 88 ? Kind::kReducescatter
             : kind < 92 ? Kind::kAlltoall
             : kind < 94 ? Kind::kBroadcast
                         : Kind::kBarrier;
    r.shape = {8 * Draw(random_, 1, 4), 2};
    r.type = OneOf({ElementType::kFloat32, ElementType::kFloat32, ElementType::kInt64});
    r.root = r.kind == Kind::kBroadcast ? 0 : -1;
    (void)set;
    return r;
  }
  void AddUnit() {
    Unit unit;
    unit.set =
        static_cast<std::int32_t>(Draw(random_, 0, std::int64_t(job_.coordinator.sets.size()) - 1));
    const auto size = Chance(random_, 20) ? Draw(random_, 2, 4) : 1;
    for (int i = 0; i < size; ++i) unit.requests.push_back(MakeRequest(unit.set));
    if (size > 1) {
      for (Request& r : unit.requests) {
        r.group = "g." + unit.requests[0].name;
        r.group_size = static_cast<std::uint32_t>(size);
      }
    }
    step_.insert(step_.begin() + Draw(random_, 0, std::int64_t(step_.size())), std::move(unit));
  }
  void Mutate() {
    if (Chance(random_, 50)) AddUnit();
    if (Chance(random_, 40) && step_.size() > 1) {
      step_.erase(step_.begin() + Draw(random_, 0, std::int64_t(step_.size()) - 1));
    }
    if (Chance(random_, 30)) std::shuffle(step_.begin(), step_.end(), random_);
    Request& r = step_[Draw(random_, 0, std::int64_t(step_.size()) - 1)].requests[0];
    if (Chance(random_, 30)) r.shape[0] += 8;
    if (Chance(random_, 20)) r.type = OneOf({ElementType::kFloat64, ElementType::kInt32});
  }

  bool IsMember(int rank, std::int32_t set) const {
    const auto& ranks = job_.coordinator.sets[set];
    return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
  }

  // --- one phase: a step, many times ------------------------------------------------------------

  void WritePhase() {
    const auto steps = Draw(random_, 1, 25);
    const bool shuffled = Chance(random_, 30);
    const bool early_waits = Chance(random_, 30);
    const bool overlapped = !shuffled && Chance(random_, 30);
    const bool stalls = Chance(random_, 25);
    const bool sequential = Chance(random_, 10);
    for (int step = 0; step < steps; ++step) {
      const int wrong_rank =
          Chance(random_, 3) ? static_cast<int>(Draw(random_, 0, job_.coordinator.size - 1)) : -1;
      for (int rank = 0; rank < job_.coordinator.size; ++rank) {
        std::vector<Unit> mine = UnitsOf(rank);
        if (mine.empty()) continue;
        if (rank == wrong_rank) mine[0].requests[0].type = ElementType::kUint8;
        if (overlapped) {
          WriteOverlapped(rank, mine);
        } else {
          WriteStep(rank, mine, shuffled, early_waits, sequential);
        }
        if (stalls && Chance(random_, 10)) Sleep(rank, job_.member.patience * Draw(random_, 1, 4));
      }
    }
    for (auto& script : job_.scripts) script.push_back({});
  }
  std::vector<Unit> UnitsOf(int rank) const {
    std::vector<Unit> mine;
    for (const Unit& unit : step_) {
      if (IsMember(rank, unit.set)) mine.push_back(unit);
    }
    for (Unit& unit : mine) {
      for (Request& r : unit.requests) {
        // Gathers may have other sizes on other ranks.
        if (r.kind == Kind::kAllgather) r.shape[0] += rank;
      }
    }
    return mine;
  }

  // A rank may block on a unit only if it has submitted all units up to it in the common order:
  // then the first unit anybody blocks on has been or will be submitted by all.
  void WriteStep(int rank, const std::vector<Unit>& mine, bool shuffled, bool early_waits,
                 bool sequential) {
    std::vector<std::size_t> order(mine.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (shuffled) std::shuffle(order.begin(), order.end(), random_);
    std::vector<bool> given(mine.size());
    for (std::size_t i : order) {
      Submit(rank, mine[i]);
      given[i] = true;
      const auto whole = std::find(given.begin(), given.end(), false) - given.begin();
      if (Chance(random_, 10)) Sleep(rank, std::chrono::microseconds(Draw(random_, 1, 300)));
      if (Chance(random_, 3)) Poll(rank, mine[i]);
      if (sequential && whole == static_cast<std::int64_t>(i) + 1) Wait(rank, mine[i]);
      if (early_waits && whole > 0 && Chance(random_, 20)) {
        Wait(rank, mine[Draw(random_, 0, whole - 1)]);
      }
    }
    job_.scripts[rank].push_back({});
  }
  // Each unit waits for its own last time only, so that steps overlap.
  void WriteOverlapped(int rank, const std::vector<Unit>& mine) {
    for (const Unit& unit : mine) {
      Wait(rank, unit);
      Submit(rank, unit);
    }
  }

  // --- uneven data ------------------------------------------------------------------------------

  void WriteJoinPhase() {
    const std::string prefix = Numbered("join", phase_) + ".";
    const bool gather = Chance(random_, 20);
    const auto tensors = Draw(random_, 1, 3);
    for (int rank = 0; rank < job_.coordinator.size; ++rank) {
      for (std::int64_t step = Draw(random_, 0, 8); step > 0; --step) {
        for (int t = 0; t < tensors; ++t) {
          Unit unit{0, {MakeRequest(0)}};
          Request& r = unit.requests[0];
          r = Request{};
          r.kind = gather && t == 0 ? Kind::kAllgather : Kind::kAllreduce;
          r.name = Numbered(prefix, t);
          r.shape = {16};
          Submit(rank, unit);
        }
        if (Chance(random_, 90)) job_.scripts[rank].push_back({});
        // Without waiting for the last ones the rank joins with tensors outstanding.
        if (job_.scripts[rank].back().kind != Op::Kind::kWaitAll && step > 1) {
          job_.scripts[rank].push_back({});
        }
      }
      Unit join{0, {Request{}}};
      join.requests[0].kind = Kind::kJoin;
      join.requests[0].name = "join.noname";
      Submit(rank, join);
      job_.scripts[rank].push_back({});
    }
  }

  void WriteLonelyTensor() {
    const int rank = static_cast<int>(Draw(random_, 1, job_.coordinator.size - 1));
    Request r;
    r.name = "lonely";
    Submit(rank, {0, {r}});
  }

  // --- ops --------------------------------------------------------------------------------------

  void Submit(int rank, const Unit& unit) {
    Op op;
    op.kind = Op::Kind::kSubmit;
    op.set = unit.set;
    op.requests = unit.requests;
    job_.scripts[rank].push_back(std::move(op));
  }
  void Wait(int rank, const Unit& unit) {
    for (const Request& r : unit.requests) {
      Op op;
      op.kind = Op::Kind::kWait;
      op.set = unit.set;
      op.name = r.name;
      job_.scripts[rank].push_back(std::move(op));
    }
  }
  void Poll(int rank, const Unit& unit) {
    Wait(rank, unit);
    for (std::size_t i = 0; i < unit.requests.size(); ++i) {
      job_.scripts[rank][job_.scripts[rank].size() - 1 - i].kind = Op::Kind::kPoll;
    }
  }
  void Sleep(int rank, Duration time) {
    Op op;
    op.kind = Op::Kind::kSleep;
    op.sleep = time;
    job_.scripts[rank].push_back(std::move(op));
  }

  Random random_;
  Job job_;
  std::vector<Unit> step_;
  int names_ = 0;
  int phase_ = 0;
};

}  // namespace

Job MakeRandomJob(std::uint64_t seed) { return Writer(seed).Write(); }

Job MakeSteadyJob(std::uint64_t seed, int ranks, int tensors, int steps) {
  Job job;
  job.coordinator.size = ranks;
  job.scripts.resize(ranks);
  Random random(seed);
  for (auto& script : job.scripts) {
    for (int step = 0; step < steps; ++step) {
      for (int t = 0; t < tensors; ++t) {
        Op op;
        op.kind = Op::Kind::kSubmit;
        op.requests.resize(1);
        op.requests[0].name = Numbered("t", t);
        op.requests[0].shape = {100};
        script.push_back(std::move(op));
      }
      script.push_back({});
    }
  }
  return job;
}

}  // namespace horovodx::negotiation::sim

// The proof of the plan: random programs give bit for bit the results of plain negotiation, and
// never hang. HVDX_SEED=n replays one program, HVDX_PROGRAMS=n runs that many.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "horovodx/schedule/cut.h"
#include "tests/horovodx/runtime/random_program.h"
#include "tests/support/engine_world.h"

namespace horovodx::runtime {
namespace {

using testing_support::EngineWorld;

// Everything one rank got back, in the order of its program.
using Results = std::vector<std::vector<std::byte>>;

// A rank's run of a program.
class ProgramRun {
 public:
  ProgramRun(const RandomProgram& program, Engine& engine) : program_(program), engine_(engine) {}

  Results Go() {
    for (const Phase& phase : program_.phases) RunPhase(phase);
    WaitForAll();
    if (!program_.uneven_steps.empty()) RunUnevenStepsAndJoin();
    WaitForOthers();
    return std::move(results_);
  }

 private:
  struct InFlight {
    OperationPtr operation;
    std::vector<std::byte> memory;
    std::size_t result = 0;
  };

  void Fill(std::vector<std::byte>& memory, const ProgramTensor& tensor) {
    const auto salt = static_cast<std::uint64_t>(engine_.rank()) * 1'000'003 + results_.size();
    std::mt19937_64 random(salt);
    std::uniform_real_distribution<double> values(-1.0, 1.0);
    for (int i = 0; i < tensor.elements; ++i) {
      const double value = values(random);
      const auto single = static_cast<float>(value);
      if (tensor.type == ElementType::kFloat64) {
        std::memcpy(memory.data() + i * sizeof(value), &value, sizeof(value));
      } else {
        std::memcpy(memory.data() + i * sizeof(single), &single, sizeof(single));
      }
    }
  }

  void Start(const ProgramTensor& tensor) {
    const std::string key = std::to_string(tensor.set) + tensor.name;
    InFlight& flight = in_flight_[key];
    flight.memory.resize(static_cast<std::size_t>(tensor.elements) * SizeOf(tensor.type));
    Fill(flight.memory, tensor);
    flight.result = results_.size();
    results_.emplace_back();
    Submission s;
    s.set = tensor.set;
    s.request.name = tensor.name;
    s.request.type = tensor.type;
    s.request.op = tensor.op;
    s.request.shape = {tensor.elements};
    s.input = s.output = flight.memory.data();
    auto operation = engine_.Submit(std::move(s));
    ASSERT_TRUE(operation.ok()) << operation.status().ToString();
    flight.operation = *operation;
  }

  void WaitFor(InFlight& flight, bool poll) {
    const auto deadline = Deadline::After(Seconds(60));
    if (poll) {
      while (!engine_.Poll(flight.operation) && !deadline.Passed()) std::this_thread::yield();
    } else {
      engine_.Wait(flight.operation, deadline);
    }
    ASSERT_TRUE(flight.operation->finished)
        << "hang: rank " << engine_.rank() << " waits for " << flight.operation->what.request.name;
    ASSERT_TRUE(flight.operation->status.ok()) << flight.operation->status.ToString();
    results_[flight.result] = flight.memory;
  }

  void WaitForAll(bool poll = false) {
    for (auto& [key, flight] : in_flight_) WaitFor(flight, poll);
    in_flight_.clear();
  }

  void RunPhase(const Phase& phase) {
    for (int i : phase.order[engine_.rank()]) {
      if (program_.InSet(engine_.rank(), phase.tensors[i].set)) Start(phase.tensors[i]);
    }
    const int block_on = phase.block_on[engine_.rank()];
    if (block_on <= -2) {
      WaitForAll(block_on == -2);
    } else if (block_on >= 0) {
      const ProgramTensor& tensor = phase.tensors[block_on];
      const auto it = in_flight_.find(std::to_string(tensor.set) + tensor.name);
      if (it == in_flight_.end()) return;
      WaitFor(it->second, false);
      in_flight_.erase(it);
    }
  }

  void RunUnevenStepsAndJoin() {
    for (int i = 0; i < program_.uneven_steps[engine_.rank()]; ++i) {
      Start({"uneven", 0, 33, ElementType::kFloat32, ReduceOp::kSum});
      WaitForAll();
    }
    Submission join;
    join.request.kind = negotiation::Kind::kJoin;
    join.request.name = "join.noname";
    const Status status = testing_support::SubmitAndWait(engine_, std::move(join));
    ASSERT_TRUE(status.ok()) << status.ToString();
  }

  // The first to shut down ends all: nobody may before everybody is through.
  void WaitForOthers() {
    Submission barrier;
    barrier.request.kind = negotiation::Kind::kBarrier;
    barrier.request.name = "barrier.noname";
    const Status status = testing_support::SubmitAndWait(engine_, std::move(barrier));
    ASSERT_TRUE(status.ok()) << status.ToString();
  }

  const RandomProgram& program_;
  Engine& engine_;
  std::map<std::string, InFlight> in_flight_;
  Results results_;
};

struct Outcome {
  std::vector<Results> by_rank;
  std::int64_t plans = 0;
};

Outcome RunProgram(const RandomProgram& program, bool plans, const std::string& schedule) {
  EngineOptions options;
  options.plans = plans;
  options.schedule = schedule;
  options.process_sets = program.sets;
  options.spin_microseconds = 0;
  options.patience = Seconds(0.2);
  EngineWorld world(program.ranks, options);
  Outcome outcome;
  outcome.by_rank.resize(program.ranks);
  std::atomic<std::int64_t> started{0};
  world.Run([&](Engine& engine) {
    outcome.by_rank[engine.rank()] = ProgramRun(program, engine).Go();
    if (engine.rank() == 0) started = engine.Counter("plans_started");
  });
  outcome.plans = started;
  return outcome;
}

std::string RuleOf(std::uint64_t seed) {
  const auto names = schedule::RuleNames();
  return std::string(names[seed % names.size()]);
}

int ProgramsToRun() {
  if (const char* programs = std::getenv("HVDX_PROGRAMS")) return std::atoi(programs);
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  return 60;
#else
  return 400;
#endif
}

TEST(RandomSchedulesTest, PlansGiveTheBitsOfPlainNegotiation) {
  const char* replay = std::getenv("HVDX_SEED");
  const std::uint64_t first = replay != nullptr ? std::strtoull(replay, nullptr, 10) : 1;
  const int programs = replay != nullptr ? 1 : ProgramsToRun();
  std::int64_t plans = 0;
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(programs); ++seed) {
    SCOPED_TRACE("replay with HVDX_SEED=" + std::to_string(seed));
    const RandomProgram program(seed);
    const Outcome plain = RunProgram(program, false, "fusion");
    const Outcome planned = RunProgram(program, true, RuleOf(seed));
    ASSERT_EQ(plain.plans, 0);
    plans += planned.plans;
    for (int rank = 0; rank < program.ranks; ++rank) {
      ASSERT_TRUE(plain.by_rank[rank] == planned.by_rank[rank]) << "other bits on rank " << rank;
    }
    if (testing::Test::HasFailure()) return;
  }
  std::printf("%d programs from seed %llu, %lld plans started\n", programs,
              static_cast<unsigned long long>(first), static_cast<long long>(plans));
  if (replay == nullptr) {
    EXPECT_GT(plans, programs / 4);
  }
}

}  // namespace
}  // namespace horovodx::runtime

// The proof of the plan: random programs give bit for bit the results of plain negotiation, and
// never hang. Every run takes other programs: it says its first seed, and HVDX_SEED=n replays one.
// HVDX_PROGRAMS=n runs that many.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "horovodx/schedule/cut.h"
#include "tests/horovodx/runtime/program_run.h"
#include "tests/horovodx/runtime/random_program.h"
#include "tests/support/engine_world.h"

namespace horovodx::runtime {
namespace {

using testing_support::EngineWorld;

struct Outcome {
  std::vector<Results> by_rank;
  std::int64_t plans = 0;
};

Outcome RunProgram(const RandomProgram& program, bool plans, const std::string& schedule) {
  EngineOptions options = program.options;
  options.plans = plans;
  options.schedule = schedule;
  transport::loopback::WorldOptions transport;
  if (program.small_buffers) {
    transport.ring_bytes = 4 << 10;
    transport.slot_bytes = 4 << 10;
  }
  EngineWorld world(program.hosts, options, transport);
  Outcome outcome;
  outcome.by_rank.resize(program.ranks());
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

// Each run has a stretch of seeds for itself.
std::uint64_t FirstSeed() {
  if (const char* replay = std::getenv("HVDX_SEED")) return std::strtoull(replay, nullptr, 10);
  return std::uint64_t{std::random_device()()} * 10'000 + 1;
}

int ProgramsToRun() {
  if (const char* programs = std::getenv("HVDX_PROGRAMS")) return std::atoi(programs);
  if (std::getenv("HVDX_SEED") != nullptr) return 1;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  return 50;
#else
  return 300;
#endif
}

TEST(RandomSchedulesTest, PlansGiveTheBitsOfPlainNegotiation) {
  const std::uint64_t first = FirstSeed();
  const int programs = ProgramsToRun();
  // Before anything can go wrong.
  std::printf("%d programs from HVDX_SEED=%llu\n", programs,
              static_cast<unsigned long long>(first));
  std::fflush(stdout);
  std::int64_t plans = 0;
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(programs); ++seed) {
    SCOPED_TRACE("replay with HVDX_SEED=" + std::to_string(seed));
    const RandomProgram program(seed);
    const Outcome plain = RunProgram(program, false, "fusion");
    const Outcome planned = RunProgram(program, true, RuleOf(seed));
    ASSERT_EQ(plain.plans, 0);
    plans += planned.plans;
    for (int rank = 0; rank < program.ranks(); ++rank) {
      ASSERT_TRUE(plain.by_rank[rank] == planned.by_rank[rank]) << "other bits on rank " << rank;
    }
    if (testing::Test::HasFailure()) return;
  }
  std::printf("%lld plans started\n", static_cast<long long>(plans));
  if (programs > 20) {
    EXPECT_GT(plans, programs / 4);
  }
}

}  // namespace
}  // namespace horovodx::runtime

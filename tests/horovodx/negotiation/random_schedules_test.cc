// The proof that plans change nothing but the cost: random schedules give every tensor exactly its
// partners, on all ranks the same sequence, and nothing hangs.
//
// HVDX_SEED=<n> replays one schedule; HVDX_SCHEDULES=<n> runs so many.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "horovodx/base/log.h"
#include "tests/horovodx/negotiation/sim_world.h"

namespace horovodx::negotiation::sim {
namespace {

std::uint64_t Number(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// One thread, so the sanitizers need not see as many.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t kSchedules = 200;
#else
constexpr std::uint64_t kSchedules = 1000;
#endif

class RandomSchedulesTest : public testing::Test {
 protected:
  void SetUp() override {
    SetLogSink([](LogLevel, const std::string&) {});
  }
  void TearDown() override { SetLogSink(nullptr); }
};

TEST_F(RandomSchedulesTest, EveryTensorMeetsItsPartnersAndNothingHangs) {
  const std::uint64_t only = Number("HVDX_SEED", 0);
  const std::uint64_t schedules = only != 0 ? 1 : Number("HVDX_SCHEDULES", kSchedules);
  Stats all;
  for (std::uint64_t i = 0; i < schedules; ++i) {
    const std::uint64_t seed = only != 0 ? only : i + 1;
    const Job job = MakeRandomJob(seed);
    World world(job, seed);
    ASSERT_EQ(world.Run(), "") << "replay with HVDX_SEED=" << seed;
    const Stats& s = world.stats();
    all.messages += s.messages;
    all.tensors += s.tensors;
    all.planned += s.planned;
    all.negotiated += s.negotiated;
    all.passing += s.passing;
    all.dropped += s.dropped;
    all.errors += s.errors;
    all.plans += s.plans;
    all.stuck += s.stuck;
    all.resent += s.resent;
    all.made_anew += s.made_anew;
  }
  std::printf(
      "%llu schedules: %llu tensors, %llu errors, %llu buckets negotiated, %llu of them in a "
      "plan, %llu planned, %llu dropped, %llu plans, %llu made anew, %llu stuck, %llu resent, %llu "
      "messages\n",
      static_cast<unsigned long long>(schedules), static_cast<unsigned long long>(all.tensors),
      static_cast<unsigned long long>(all.errors), static_cast<unsigned long long>(all.negotiated),
      static_cast<unsigned long long>(all.passing), static_cast<unsigned long long>(all.planned),
      static_cast<unsigned long long>(all.dropped), static_cast<unsigned long long>(all.plans),
      static_cast<unsigned long long>(all.made_anew), static_cast<unsigned long long>(all.stuck),
      static_cast<unsigned long long>(all.resent), static_cast<unsigned long long>(all.messages));
  if (only != 0) return;
  // Every path was walked, many times.
  EXPECT_GT(all.planned, 10 * schedules);
  EXPECT_GT(all.passing, schedules);
  EXPECT_GT(all.plans, schedules / 2);
  EXPECT_GT(all.dropped, schedules / 20);
  EXPECT_GT(all.stuck, schedules / 100);
  EXPECT_GT(all.resent, schedules / 100);
  EXPECT_GT(all.made_anew, schedules / 100);
  EXPECT_GT(all.errors, schedules / 10);
}

TEST_F(RandomSchedulesTest, ASteadyStepCostsNoMessage) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const int ranks = 2 + static_cast<int>(seed % 7);
    const Job few = MakeSteadyJob(seed, ranks, 10, 40);
    const Job many = MakeSteadyJob(seed, ranks, 10, 400);
    World a(few, seed);
    World b(many, seed);
    ASSERT_EQ(a.Run(), "") << "seed " << seed;
    ASSERT_EQ(b.Run(), "") << "seed " << seed;
    EXPECT_EQ(a.stats().messages, b.stats().messages) << "seed " << seed;
    EXPECT_EQ(b.stats().plans, 1u);
    EXPECT_GT(b.stats().planned, a.stats().planned);
  }
}

}  // namespace
}  // namespace horovodx::negotiation::sim

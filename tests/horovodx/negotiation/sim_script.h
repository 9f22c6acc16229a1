// Random programs for the ranks of a simulated job: what each submits, when it waits, polls, stalls
// or joins. All ranks of a set use the same names equally often (but for joins), so every program
// ends; the order, the timing and what is blocked on are each rank's own.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "horovodx/base/clock.h"
#include "horovodx/negotiation/coordinator.h"
#include "horovodx/negotiation/member.h"
#include "horovodx/negotiation/message.h"

namespace horovodx::negotiation::sim {

struct Op {
  enum class Kind { kSubmit, kWait, kPoll, kWaitAll, kSleep } kind = Kind::kWaitAll;
  std::int32_t set = 0;
  std::vector<Request> requests;  // kSubmit: at once
  std::string name;               // kWait, kPoll
  Duration sleep = Duration::zero();
};

struct Job {
  CoordinatorOptions coordinator;
  MemberOptions member;
  std::vector<std::vector<Op>> scripts;  // by rank
  Duration most_delay = std::chrono::microseconds(500);
  // A rank wants to shut down at this time, whatever the others do; zero: when all are done.
  Duration early_shutdown = Duration::zero();
};

using Random = std::mt19937_64;
// A whole number from [low, high].
std::int64_t Draw(Random& random, std::int64_t low, std::int64_t high);
bool Chance(Random& random, int percent);

Job MakeRandomJob(std::uint64_t seed);

// The same step again and again, on all ranks of the world.
Job MakeSteadyJob(std::uint64_t seed, int ranks, int tensors, int steps);

}  // namespace horovodx::negotiation::sim

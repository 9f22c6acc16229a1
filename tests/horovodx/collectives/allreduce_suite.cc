#include "tests/horovodx/collectives/allreduce_suite.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <random>
#include <string>
#include <thread>

#include "kernels/cast.h"
#include "tests/support/in_process_world.h"

namespace horovodx::collectives::testing_suite {
namespace {

using testing_support::InProcessWorld;

constexpr std::byte kGuard{0xA5};
constexpr std::size_t kGuardBytes = 13;  // so that pieces lie anyhow

std::vector<std::size_t> PieceCounts(std::size_t count, Split split) {
  if (split == Split::kWhole) return {count};
  if (split == Split::kTwo) return {count / 3, count - count / 3};
  std::vector<std::size_t> counts;
  for (std::size_t left = count, next = 0; left > 0; next = next * 2 + 1) {
    counts.push_back(std::min(left, next % 5000));  // the first is empty
    left -= counts.back();
  }
  return counts;
}

struct Trial {
  ElementType type;
  ReduceOp op;
  Split split;
};

constexpr Trial kTrials[] = {
    {ElementType::kInt32, ReduceOp::kSum, Split::kWhole},
    {ElementType::kFloat32, ReduceOp::kSum, Split::kMany},
    {ElementType::kUint8, ReduceOp::kMax, Split::kTwo},
    {ElementType::kFloat16, ReduceOp::kSum, Split::kMany},
    {ElementType::kInt64, ReduceOp::kProduct, Split::kWhole},
    {ElementType::kBfloat16, ReduceOp::kProduct, Split::kTwo},
    {ElementType::kFloat64, ReduceOp::kMin, Split::kMany},
    {ElementType::kBool, ReduceOp::kSum, Split::kTwo},
    {ElementType::kInt8, ReduceOp::kMin, Split::kMany},
};
constexpr std::size_t kTrialCount = std::size(kTrials);

// Small enough that every sum and product is exact in every type. Repeats itself after kPeriod, so
// that tests spend their time on allreduces.
constexpr std::size_t kPeriod = 3 * 5 * 8;
double ValueAt(const Trial& trial, int rank, std::size_t i) {
  const auto r = static_cast<std::size_t>(rank);
  if (trial.type == ElementType::kBool) return (r + i) % 3 == 0 ? 1 : 0;
  if (trial.op == ReduceOp::kProduct) return (r + i) % 8 == 0 ? 2 : 1;
  return static_cast<double>((r * 7 + i * 3) % 5);
}

double Apply(ReduceOp op, double x, double y) {
  switch (op) {
    case ReduceOp::kSum:
      return x + y;
    case ReduceOp::kProduct:
      return x * y;
    case ReduceOp::kMin:
      return std::min(x, y);
    default:
      return std::max(x, y);
  }
}

double ExpectedAt(const Trial& trial, int ranks, std::size_t i) {
  double all = ValueAt(trial, 0, i);
  for (int rank = 1; rank < ranks; ++rank) all = Apply(trial.op, all, ValueAt(trial, rank, i));
  return trial.type == ElementType::kBool ? (all != 0 ? 1 : 0) : all;
}

std::vector<double> Filled(std::size_t count, const std::function<double(std::size_t)>& value) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value(i);
  return values;
}

std::vector<double> Repeated(std::size_t count, const std::function<double(std::size_t)>& value) {
  std::vector<double> values = Filled(std::min(count, kPeriod), value);
  values.resize(count);
  for (std::size_t at = kPeriod; at < count; at += kPeriod) {
    std::copy_n(values.begin(), std::min(kPeriod, count - at), values.begin() + at);
  }
  return values;
}

void RunTrial(AllreduceFunction allreduce, Team& team, const Trial& trial, std::size_t count) {
  SCOPED_TRACE(std::to_string(team.size()) + " ranks, " + std::to_string(count) + " " +
               NameOf(trial.type) + ", " + NameOf(trial.op));
  SplitBuffer mine(trial.type,
                   Repeated(count, [&](std::size_t i) { return ValueAt(trial, team.rank(), i); }),
                   trial.split);
  const Status status = allreduce(team, mine.buffer(), trial.op);
  ASSERT_TRUE(status.ok()) << status.ToString();
  const auto got = mine.values();
  const auto expected =
      Repeated(count, [&](std::size_t i) { return ExpectedAt(trial, team.size(), i); });
  const auto [wrong, right] = std::mismatch(got.begin(), got.end(), expected.begin());
  ASSERT_TRUE(wrong == got.end()) << *wrong << " instead of " << *right << " at "
                                  << wrong - got.begin();
  EXPECT_TRUE(mine.guards_intact());
}

std::vector<double> RoundedValues(int rank, std::size_t count) {
  std::mt19937_64 random(static_cast<std::uint64_t>(rank) + 1);
  std::uniform_real_distribution<double> value(-1, 1);
  return Filled(count, [&](std::size_t) { return value(random); });
}

// How those who came are stopped: at any moment, or when nothing has moved for a while, that is,
// when everybody has gone as far as one can without the one who is away.
enum class Stop { kInterrupt, kTimeLimit };

Status RunUntilStopped(AllreduceFunction allreduce, transport::Mesh& mesh, Team& team,
                       std::vector<float>& x, Stop stop) {
  if (stop == Stop::kTimeLimit) {
    team.SetTimeLimit(Seconds(0.1));
    const Status status = allreduce(team, x, ReduceOp::kSum);
    team.SetTimeLimit(Seconds(30));
    return status;
  }
  std::thread stopper([&] {
    for (int i = 0; i < 100 * mesh.rank(); ++i) std::this_thread::yield();
    mesh.interrupt().Raise(Status::Cancelled("dropped"));
  });
  const Status status = allreduce(team, x, ReduceOp::kSum);
  stopper.join();
  mesh.interrupt().Clear();
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
  return status;
}

void ExpectInputsKept(AllreduceFunction allreduce, const topology::HostMap& hosts, int away,
                      Stop stop) {
  InProcessWorld world(hosts);
  // Several windows; and a link holds less than one message.
  const std::size_t count = 70'000 * static_cast<std::size_t>(hosts.size());
  std::atomic<int> given_up{0};
  world.RunOnMesh([&](transport::Mesh& mesh) {
    Team team(mesh);
    const auto mine = static_cast<float>(mesh.rank() + 1);
    std::vector<float> x(count, mine);
    if (mesh.rank() != away) {
      EXPECT_FALSE(RunUntilStopped(allreduce, mesh, team, x, stop).ok());
      EXPECT_EQ(x, std::vector<float>(count, mine))
          << "on rank " << mesh.rank() << " without " << away;
      ++given_up;
    }
    const Deadline deadline = Deadline::After(Seconds(60));
    while (given_up < hosts.size() - 1 && !deadline.Passed()) std::this_thread::yield();
    team.EnterEpoch(1);
    const Status status = allreduce(team, x, ReduceOp::kSum);
    ASSERT_TRUE(status.ok()) << status.ToString();
    const auto sum = static_cast<float>(hosts.size() * (hosts.size() + 1) / 2);
    EXPECT_EQ(x, std::vector<float>(count, sum));
  });
}

}  // namespace

SplitBuffer::SplitBuffer(ElementType type, const std::vector<double>& values, Split split)
    : type_(type) {
  const auto counts = PieceCounts(values.size(), split);
  memory_.assign(values.size() * SizeOf(type) + (counts.size() + 1) * kGuardBytes, kGuard);
  std::byte* at = memory_.data() + kGuardBytes;
  const double* value = values.data();
  for (std::size_t count : counts) {
    pieces_.push_back({at, count});
    kernels::Cast(type, at, ElementType::kFloat64, value, count);
    at += count * SizeOf(type) + kGuardBytes;
    value += count;
  }
}

std::vector<double> SplitBuffer::values() const {
  std::vector<double> values(buffer().count());
  double* value = values.data();
  for (const auto& piece : pieces_) {
    kernels::Cast(ElementType::kFloat64, value, type_, piece.data, piece.count);
    value += piece.count;
  }
  return values;
}

std::vector<std::byte> SplitBuffer::bytes() const {
  std::vector<std::byte> all;
  for (const auto& span : buffer().ToSend()) all.insert(all.end(), span.begin(), span.end());
  return all;
}

bool SplitBuffer::guards_intact() const {
  const auto intact = [](const std::byte* guard) {
    return std::all_of(guard, guard + kGuardBytes, [](std::byte b) { return b == kGuard; });
  };
  if (!intact(memory_.data())) return false;
  return std::all_of(pieces_.begin(), pieces_.end(), [&](const kernels::Piece& piece) {
    return intact(static_cast<const std::byte*>(piece.data) + piece.count * SizeOf(type_));
  });
}

std::vector<topology::HostMap> OneHostWorlds() {
  std::vector<topology::HostMap> worlds;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  // Every kind of number, but not all of them: a rank is a thread, and they are slow here.
  for (int ranks : {1, 2, 3, 4, 7}) {
#else
  for (int ranks = 1; ranks <= 17; ++ranks) {
#endif
    worlds.push_back(topology::HostMap::OneHost(ranks));
  }
  return worlds;
}

std::vector<topology::HostMap> HostWorlds() {
  using topology::HostMap;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  return {HostMap::Grid(2, 2), HostMap::Grid(3, 2), HostMap({"a", "b", "b"}),
          HostMap({"a", "b", "a", "b", "a"})};
#endif
  return {HostMap::Grid(2, 2),
          HostMap::Grid(3, 2),
          HostMap::Grid(2, 4),
          HostMap::Grid(5, 1),
          HostMap::Grid(4, 3),
          HostMap({"a", "b", "b"}),
          HostMap({"a", "b", "a", "b", "a", "b"}),
          HostMap({"a", "b", "b", "c", "a", "b", "b", "b", "c"})};
}

void ExpectRightResults(AllreduceFunction allreduce, const topology::HostMap& hosts) {
  InProcessWorld world(hosts);
  const std::size_t trials = hosts.size() <= 5 ? kTrialCount : 2;
  world.Run([&](Team& team) {
    std::size_t turn = static_cast<std::size_t>(team.size());  // so that worlds differ
    for (std::size_t count : {0, 1, 2, 3, 5, 7, 16, 1000, 65537}) {
      for (std::size_t t = 0; t < trials; ++t) {
        RunTrial(allreduce, team, kTrials[turn++ % kTrialCount], count);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  });
}

void ExpectSameBitsOnAllRanks(AllreduceFunction allreduce, const topology::HostMap& hosts) {
  InProcessWorld world(hosts);
  constexpr std::size_t kCount = 1001;
  for (ElementType type : {ElementType::kFloat32, ElementType::kBfloat16}) {
    std::vector<std::vector<std::byte>> sums(static_cast<std::size_t>(hosts.size()));
    auto minima = sums;
    world.Run([&](Team& team) {
      const auto rank = static_cast<std::size_t>(team.rank());
      SplitBuffer sum(type, RoundedValues(team.rank(), kCount), Split::kMany);
      ASSERT_TRUE(allreduce(team, sum.buffer(), ReduceOp::kSum).ok());
      sums[rank] = sum.bytes();
      SplitBuffer zeros(type, std::vector<double>(kCount, team.rank() % 2 == 0 ? 0.0 : -0.0),
                        Split::kTwo);
      ASSERT_TRUE(allreduce(team, zeros.buffer(), ReduceOp::kMin).ok());
      minima[rank] = zeros.bytes();
    });
    for (std::size_t rank = 1; rank < sums.size(); ++rank) {
      EXPECT_EQ(sums[rank], sums[0]) << NameOf(type) << ", rank " << rank;
      EXPECT_EQ(minima[rank], minima[0]) << NameOf(type) << ", rank " << rank;
    }
  }
}

void ExpectNobodyDoneBeforeAllHaveCome(AllreduceFunction allreduce,
                                       const topology::HostMap& hosts) {
  InProcessWorld world(hosts);
  for (std::size_t count : {0, 1, 100}) {
    std::atomic<int> come{0};
    world.Run([&](Team& team) {
      std::vector<int> x(count, 1);
      // The higher ranks come as late as others let them.
      for (int i = 0; i < 50 * team.rank(); ++i) std::this_thread::yield();
      ++come;
      ASSERT_TRUE(allreduce(team, x, ReduceOp::kSum).ok());
      EXPECT_EQ(come.load(), team.size()) << count << " elements";
    });
  }
}

void ExpectInputsKeptWhenARankStaysAway(AllreduceFunction allreduce,
                                        const topology::HostMap& hosts) {
  for (int away : {0, hosts.size() - 1}) {
    for (Stop stop : {Stop::kInterrupt, Stop::kTimeLimit}) {
      ExpectInputsKept(allreduce, hosts, away, stop);
    }
  }
}

void ExpectCost(AllreduceFunction allreduce, const topology::HostMap& hosts, std::size_t count,
                const Cost& cost) {
  InProcessWorld world(hosts);
  std::vector<Traffic> sent(static_cast<std::size_t>(hosts.size()));
  world.Run([&](Team& team) {
    std::vector<float> x(count, 1);
    ASSERT_TRUE(allreduce(team, x, ReduceOp::kSum).ok());
    sent[static_cast<std::size_t>(team.rank())] = team.traffic();
  });
  Traffic most;
  for (const Traffic& t : sent) {
    most.messages = std::max(most.messages, t.messages);
    most.bytes = std::max(most.bytes, t.bytes);
  }
  EXPECT_EQ(most.messages, cost.messages) << hosts.size() << " ranks, " << count << " elements";
  EXPECT_EQ(static_cast<double>(most.bytes), cost.bytes)
      << hosts.size() << " ranks, " << count << " elements";
}

void RunSuite(AllreduceFunction allreduce, const std::vector<topology::HostMap>& worlds) {
  for (const auto& hosts : worlds) {
    SCOPED_TRACE(std::to_string(hosts.size()) + " ranks on " + std::to_string(hosts.hosts()) +
                 " hosts");
    ExpectRightResults(allreduce, hosts);
    ExpectSameBitsOnAllRanks(allreduce, hosts);
    ExpectNobodyDoneBeforeAllHaveCome(allreduce, hosts);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace horovodx::collectives::testing_suite

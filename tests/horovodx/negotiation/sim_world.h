// A job in one thread: ranks with their Members, a Coordinator, messages with random delays (in
// order on each edge), and collectives that finish on a rank only after all members have given
// their part. The same seed gives the same run.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/horovodx/negotiation/sim_script.h"

namespace horovodx::negotiation::sim {

struct Stats {
  std::uint64_t messages = 0;  // up and down, before somebody wants to shut down
  std::uint64_t tensors = 0;   // finished, on all ranks
  std::uint64_t planned = 0;   // buckets finished by plan, on all ranks
  std::uint64_t negotiated = 0;
  std::uint64_t passing = 0;  // of them, within a plan
  std::uint64_t dropped = 0;
  std::uint64_t errors = 0;
  std::uint64_t plans = 0;  // started
  std::uint64_t stuck = 0;
  std::uint64_t resent = 0;
  std::uint64_t made_anew = 0;  // plans, because of what was measured
};

class World {
 public:
  World(const Job& job, std::uint64_t seed);

  // Runs until everything is closed. Empty, or what went wrong.
  std::string Run();
  const Stats& stats() const { return stats_; }

 private:
  using Key = std::tuple<std::int32_t, bool, std::uint32_t, std::uint64_t>;  // of a bucket's run
  struct Part {  // of one member, for one entry
    bool absent = false;
    std::size_t occurrence = 0;
  };
  struct Instance {
    Bucket bucket;
    std::map<int, std::vector<Part>> parts;  // by rank
    bool finished = false;                   // on some rank
  };
  struct RankSet {
    std::unique_ptr<Member> member;
    std::optional<Key> running;
    std::map<std::string, std::size_t> uses;  // submissions so far, by name
    std::set<std::string> outstanding;
    std::vector<Key> finished;
    std::vector<Key> passed;  // a plan, at any place of it
    TimePoint timer = TimePoint::max();
  };
  struct Rank {
    std::map<std::int32_t, RankSet> sets;
    std::size_t at = 0;  // in the script
    TimePoint sleeps_until;
    bool stopping = false;  // Shutdown has come
    bool drained = false;
    bool closed = false;
    bool awake = false;  // a turn is scheduled
  };
  struct Event {
    TimePoint at;
    std::uint64_t order = 0;
    std::function<void()> act;
    bool operator>(const Event& other) const {
      return std::tie(at, order) > std::tie(other.at, other.order);
    }
  };

  void At(TimePoint at, std::function<void()> act);
  Duration Delay();
  void Wake(int rank);
  void Turn(int rank);
  void Fail(const std::string& what);

  // sim_world.cc: messages and scripts
  bool RunScript(int rank);
  bool Do(int rank, const Op& op);
  void SendUp(int rank, UpMessage message);
  void Arrive(int rank, const UpMessage& message);
  void SendDown();
  void Receive(int rank, const DownMessage& message);
  void MayShutDown();
  void MayDrain(int rank);
  // sim_collective.cc: what runs
  void Advance(int rank, std::int32_t set);
  void Start(int rank, std::int32_t set, const Work& work);
  void Complete(int rank, std::int32_t set, const Key& key);
  void Measure(std::int32_t set, const Key& key, const Instance& instance);
  void Drop(int rank, std::int32_t set);
  void CheckEntry(int rank, const Instance& instance, std::size_t entry, std::int32_t set);
  void CheckAllCame(int rank, std::int32_t set, const std::string& name, std::size_t occurrence);
  bool ErrorExpected(std::int32_t set, const std::string& name, std::size_t occurrence) const;
  void CheckEnd();
  std::string Describe() const;

  const Job& job_;
  Random random_;
  TimePoint now_;
  std::uint64_t events_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> queue_;
  std::unique_ptr<Coordinator> coordinator_;
  TimePoint coordinator_timer_ = TimePoint::max();
  std::vector<Rank> ranks_;
  std::vector<TimePoint> last_up_;
  std::vector<TimePoint> last_down_;
  std::map<Key, Instance> instances_;
  // Every request of the scripts: by set, name, rank, in order of use.
  std::map<std::pair<std::int32_t, std::string>, std::map<int, std::vector<Request>>> uses_;
  bool shutdown_wanted_ = false;
  std::string wrong_;
  Stats stats_;
};

}  // namespace horovodx::negotiation::sim

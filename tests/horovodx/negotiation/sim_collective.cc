#include <algorithm>
#include <utility>

#include "horovodx/negotiation/shape.h"
#include "tests/horovodx/negotiation/sim_world.h"

namespace horovodx::negotiation::sim {
namespace {

bool Local(const Bucket& bucket) {  // needs nobody else's part
  return bucket.kind == Kind::kError || bucket.kind == Kind::kJoin || bucket.kind == Kind::kBarrier;
}

bool Agree(const Request& a, const Request& b) {
  const bool gathers = a.kind == Kind::kAllgather || a.kind == Kind::kAlltoall;
  return a.kind == b.kind && a.type == b.type && a.op == b.op && (gathers || a.shape == b.shape);
}

}  // namespace

// Starts what can start, gives up what must be given up.
void World::Advance(int rank, std::int32_t set) {
  RankSet& state = ranks_[rank].sets.at(set);
  if (state.member->drop_wanted()) Drop(rank, set);
  const std::optional<Work> work = state.member->Next();
  if (!work || state.running) return;
  Start(rank, set, *work);
}

void World::Start(int rank, std::int32_t set, const Work& work) {
  RankSet& state = ranks_[rank].sets.at(set);
  const Key key{set, work.planned, work.epoch, work.number};
  state.running = key;
  const auto [it, is_new] = instances_.try_emplace(key);
  Instance& instance = it->second;
  if (is_new) instance.bucket = *work.bucket;
  if (!(instance.bucket == *work.bucket)) Fail("members run different buckets under one number");
  std::vector<Part>& parts = instance.parts[rank];
  for (std::size_t i = 0; i < work.bucket->entries.size(); ++i) {
    const std::string& name = work.bucket->entries[i].name;
    const bool absent = !work.absent.empty() && work.absent[i];
    if (!absent && !state.outstanding.contains(name)) {
      Fail("rank " + std::to_string(rank) + " is to run '" + name + "', which is not outstanding");
    }
    parts.push_back({absent, state.uses[name]});
  }
  const auto finish = [&](int who) {
    At(now_ + Delay(), [this, who, set, key] { Complete(who, set, key); });
  };
  if (Local(instance.bucket)) {
    finish(rank);
    return;
  }
  const auto members = std::count_if(ranks_.begin(), ranks_.end(),
                                     [&](const Rank& r) { return r.sets.contains(set); });
  if (static_cast<std::int64_t>(instance.parts.size()) < members) return;
  for (const auto& [who, part] : instance.parts) finish(who);
}

void World::Complete(int rank, std::int32_t set, const Key& key) {
  RankSet& state = ranks_[rank].sets.at(set);
  if (state.running != key) {
    Fail("a bucket was given up although all had given their part");
    return;
  }
  Instance& instance = instances_.at(key);
  instance.finished = true;
  for (std::size_t i = 0; i < instance.bucket.entries.size(); ++i) {
    CheckEntry(rank, instance, i, set);
    if (!instance.parts.at(rank)[i].absent) {
      state.outstanding.erase(instance.bucket.entries[i].name);
      ++stats_.tensors;
    }
  }
  ++(std::get<1>(key) ? stats_.planned : stats_.negotiated);
  if (state.member->in_plan() && !std::get<1>(key)) ++stats_.passing;
  if (rank == 0) Measure(set, key, instance);
  // What moves nothing may run at another place of the plan on each rank.
  const bool anywhere = std::get<2>(key) % 2 == 1 && Local(instance.bucket);
  (anywhere ? state.passed : state.finished).push_back(key);
  state.running.reset();
  state.member->Finished(now_);
  Wake(rank);
}

// Rank 0 tells the coordinator what it saw: anything at all, so that plans are made anew at random.
void World::Measure(std::int32_t set, const Key& key, const Instance& instance) {
  const auto [of_set, planned, epoch, number] = key;
  Measured measured{set, epoch, planned, number, instance.bucket.kind, 0, 0.0, {}};
  measured.bytes = BytesMoved(instance.bucket);
  measured.seconds = 1e-6 * static_cast<double>(Draw(random_, 1, 1000));
  for (std::size_t i = 0; i < instance.bucket.entries.size(); ++i) {
    measured.submitted.push_back(now_ - std::chrono::microseconds(Draw(random_, 0, 500)));
  }
  const PlanMeter* meter = coordinator_->meter(set);
  if (meter == nullptr) return;  // removed
  const std::uint64_t before = meter->made_anew();
  coordinator_->OnMeasured(measured);
  stats_.made_anew += meter->made_anew() - before;
  At(now_ + std::chrono::microseconds(1), [this] { SendDown(); });
}

void World::Drop(int rank, std::int32_t set) {
  RankSet& state = ranks_[rank].sets.at(set);
  if (!state.running) {
    Fail("nothing runs, yet it is to be dropped");
    return;
  }
  const Instance& instance = instances_.at(*state.running);
  if (instance.finished) Fail("a dropped bucket has finished elsewhere");
  ++stats_.dropped;
  state.running.reset();
  state.member->Dropped(now_);
}

bool World::ErrorExpected(std::int32_t set, const std::string& name, std::size_t occurrence) const {
  const auto& by_rank = uses_.at({set, name});
  const Request* first = nullptr;
  bool somebody_lacks = false;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!ranks_[rank].sets.contains(set)) continue;
    const auto it = by_rank.find(static_cast<int>(rank));
    if (it == by_rank.end() || it->second.size() < occurrence) {
      somebody_lacks = true;
      continue;
    }
    const Request& request = it->second[occurrence - 1];
    if (first == nullptr) first = &request;
    if (!Agree(*first, request)) return true;
  }
  return somebody_lacks && first->kind != Kind::kAllreduce;
}

// The tensor meets exactly its partners: the same use of the name on all members.
void World::CheckEntry(int rank, const Instance& instance, std::size_t entry, std::int32_t set) {
  const Bucket& bucket = instance.bucket;
  const std::string& name = bucket.entries[entry].name;
  const Part& mine = instance.parts.at(rank)[entry];
  if (mine.absent || bucket.kind == Kind::kJoin) return;
  const bool error = bucket.kind == Kind::kError;
  if (error) ++stats_.errors;
  if (error != ErrorExpected(set, name, mine.occurrence)) {
    Fail("'" + name + "' " + (error ? "failed: " + bucket.error.message() : "did not fail"));
  }
  if (error) return;
  if (bucket.kind == Kind::kBarrier) CheckAllCame(rank, set, name, mine.occurrence);
  for (const auto& [who, parts] : instance.parts) {
    const Part& other = parts[entry];
    if (other.absent) {
      const auto& by_rank = uses_.at({set, name});
      const auto it = by_rank.find(who);
      if (it != by_rank.end() && it->second.size() >= mine.occurrence) {
        Fail("'" + name + "' met zeros of rank " + std::to_string(who) + ", which had data");
      }
    } else if (other.occurrence != mine.occurrence) {
      Fail("'" + name + "' use " + std::to_string(mine.occurrence) + " of rank " +
           std::to_string(rank) + " met use " + std::to_string(other.occurrence) + " of rank " +
           std::to_string(who));
    }
  }
}

void World::CheckAllCame(int rank, std::int32_t set, const std::string& name,
                         std::size_t occurrence) {
  for (std::size_t who = 0; who < ranks_.size(); ++who) {
    const auto it = ranks_[who].sets.find(set);
    if (it == ranks_[who].sets.end()) continue;
    const auto uses = it->second.uses.find(name);
    if (uses == it->second.uses.end() || uses->second < occurrence) {
      Fail("rank " + std::to_string(rank) + " passed barrier '" + name + "' before rank " +
           std::to_string(who) + " came to it");
    }
  }
}

std::string World::Describe() const {
  std::string text;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const Rank& self = ranks_[rank];
    text += "\nrank " + std::to_string(rank) + " at op " + std::to_string(self.at) + " of " +
            std::to_string(job_.scripts[rank].size());
    for (const auto& [set, state] : self.sets) {
      text += "; set " + std::to_string(set) + " epoch " + std::to_string(state.member->epoch()) +
              (state.member->in_plan() ? " planned" : "") + (state.running ? " running" : "") +
              " waits for";
      for (const std::string& name : state.outstanding) text += " " + name;
    }
  }
  return text;
}

void World::CheckEnd() {
  std::map<std::int32_t, const std::vector<Key>*> sequence;
  std::map<std::int32_t, const std::vector<Key>*> passed;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const Rank& self = ranks_[rank];
    const std::string who = "rank " + std::to_string(rank);
    if (!self.closed) Fail("hangs: " + Describe());
    for (const auto& [set, state] : self.sets) {
      for (const std::string& name : state.outstanding) {
        const bool may = name == "lonely" || job_.early_shutdown > Duration::zero();
        if (!may) Fail(who + ": '" + name + "' did not finish");
      }
      const auto [it, is_new] = sequence.try_emplace(set, &state.finished);
      if (!is_new && *it->second != state.finished) {
        Fail(who + " ran other buckets in set " + std::to_string(set) + " than the others");
      }
      if (*passed.try_emplace(set, &state.passed).first->second != state.passed) {
        Fail(who + " passed other barriers in set " + std::to_string(set) + " than the others");
      }
    }
  }
}

}  // namespace horovodx::negotiation::sim

#include "horovodx/negotiation/plan_watcher.h"

#include <algorithm>
#include <utility>

namespace horovodx::negotiation {
namespace {

constexpr std::uint64_t kWorthwhileRounds = 8;
constexpr int kMostPatient = 16;  // times the configured repeats

}  // namespace

bool PlanWatcher::Plannable(const Bucket& single, std::size_t members) {
  const Entry& entry = single.entries.front();
  const auto all_have_rows = [&] {
    return std::all_of(entry.first_dims.begin(), entry.first_dims.end(),
                       [](std::int64_t dim) { return dim > 0; });
  };
  switch (single.kind) {
    case Kind::kAllreduce:
    case Kind::kAdasum:
      return entry.elements > 0;
    case Kind::kReducescatter:
      return entry.elements > 0 && entry.shape[0] >= static_cast<std::int64_t>(members);
    case Kind::kAllgather:
    case Kind::kAlltoall:
      return entry.elements > 0 && all_have_rows();
    default:
      return false;
  }
}

bool PlanWatcher::Same(const Requests& a, const Requests& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x == y || (x && y && *x == *y); });
}

bool PlanWatcher::Same(const StepSeen& a, const StepSeen& b) {
  if (a.tensors.size() != b.tensors.size()) return false;
  return std::all_of(a.index.begin(), a.index.end(), [&](const auto& item) {
    const auto it = b.index.find(item.first);
    return it != b.index.end() &&
           Same(a.tensors[item.second].requests, b.tensors[it->second].requests);
  });
}

bool PlanWatcher::EndStep() {
  const bool same = streak_ > 0 && Same(last_, current_);
  if (same) {
    for (Seen& seen : current_.tensors) {
      const Seen& before = last_.tensors[last_.index.at(seen.single.bucket.entries.front().name)];
      seen.single.ready = std::min(seen.single.ready, before.single.ready);
    }
  }
  streak_ = same ? streak_ + 1 : 1;
  const bool proven = IsProvenStep();
  last_ = std::exchange(current_, {});
  return proven || streak_ >= repeats_;
}

void PlanWatcher::Add(Single single, std::string name, Requests requests, TimePoint now) {
  if (current_.tensors.size() >= kMostPlanned) Reset();
  if (current_.tensors.empty()) current_.start = now;
  single.ready = ToSeconds(now - current_.start);
  current_.index[std::move(name)] = current_.tensors.size();
  current_.tensors.push_back({std::move(single), std::move(requests)});
}

void PlanWatcher::Reset() {
  streak_ = 0;
  last_ = {};
  current_ = {};
}

std::vector<Single> PlanWatcher::Step() const {
  std::vector<Single> step;
  for (const Seen& seen : last_.tensors) step.push_back(seen.single);
  return step;
}

bool PlanWatcher::Fits(const Request& request, std::size_t member) const {
  const auto it = last_.index.find(request.name);
  return it != last_.index.end() && *last_.tensors[it->second].requests[member] == request;
}

void PlanWatcher::PlanStarted() {
  planned_ = std::move(last_);
  Reset();
}

void PlanWatcher::PlanEnded(std::uint64_t rounds, bool wanted) {
  const bool worthwhile = wanted || rounds >= kWorthwhileRounds;
  repeats_ = worthwhile ? base_repeats_ : std::min(2 * repeats_, kMostPatient * base_repeats_);
  left_at_once_ = !wanted && rounds < 2;
  proven_ = rounds >= kWorthwhileRounds;
}

}  // namespace horovodx::negotiation

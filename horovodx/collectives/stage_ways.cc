#include "horovodx/collectives/stage_ways.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace horovodx::collectives {
namespace {

constexpr std::size_t kSmallest = 1 << 10;
constexpr std::size_t kSlicesFrom = 64 << 10;
// Each reading all slots costs every rank all the others' bytes: not for many.
constexpr int kMostWhoReadAll = 4;

constexpr StageWay kUntried[] = {{}};
constexpr StageWay kEachReadsAll[] = {{.past_cache = true}, {}};
constexpr StageWay kBySlices[] = {{.by_slices = true, .past_cache = true}, {.by_slices = true}};
constexpr StageWay kBoth[] = {
    {.by_slices = true, .past_cache = true}, {.past_cache = true}, {.by_slices = true}, {}};

int ClassOf(std::size_t bytes) {
  const int power = static_cast<int>(std::bit_width(bytes / kSmallest)) - 1;
  return std::clamp(power / 2, 0, StageWays::kClasses - 1);
}

}  // namespace

std::span<const StageWay> StageWays::Possible(int ranks, std::size_t bytes) {
  if (ranks == 1 || bytes < kSmallest) return kUntried;
  if (bytes < kSlicesFrom) return kEachReadsAll;
  if (ranks > kMostWhoReadAll) return kBySlices;
  return kBoth;
}

StageWays::StageWays(int rank, std::vector<Board*> boards)
    : rank_(static_cast<std::size_t>(rank)), boards_(std::move(boards)) {
  // Nobody reads them before a mark of mine that is published later.
  for (auto& ways : boards_[rank_]->seconds) {
    for (std::atomic<float>& seconds : ways) {
      seconds.store(std::numeric_limits<float>::infinity(), std::memory_order_relaxed);
    }
  }
}

StageWay StageWays::Next(std::size_t bytes) const {
  const std::span<const StageWay> ways = Possible(ranks(), bytes);
  if (ways.size() == 1) return ways.front();
  const Class& mine = classes_[static_cast<std::size_t>(ClassOf(bytes))];
  if (mine.chosen >= 0) return ways[static_cast<std::size_t>(mine.chosen)];
  return ways[static_cast<std::size_t>(mine.finished) % ways.size()];
}

bool StageWays::IsTrial(std::size_t bytes) const {
  const std::size_t ways = Possible(ranks(), bytes).size();
  const int finished = classes_[static_cast<std::size_t>(ClassOf(bytes))].finished;
  return ways > 1 && finished < kTries * static_cast<int>(ways);
}

void StageWays::Finished(std::size_t bytes, double seconds) {
  ChooseWhereAllHaveTried();
  if (!IsTrial(bytes)) return;
  const auto size_class = static_cast<std::size_t>(ClassOf(bytes));
  Class& mine = classes_[size_class];
  const std::size_t way = static_cast<std::size_t>(mine.finished) % Possible(ranks(), bytes).size();
  // Seen by whoever sees my next mark.
  std::atomic<float>& least = boards_[rank_]->seconds[size_class][way];
  const float before = least.load(std::memory_order_relaxed);
  least.store(std::min(before, static_cast<float>(seconds)), std::memory_order_relaxed);
  ++mine.finished;
}

// An operation has ended: everybody's marks of it have been seen, and with them what was written
// down before it began.
void StageWays::ChooseWhereAllHaveTried() {
  for (int i = 0; i < kClasses; ++i) {
    Class& one = classes_[static_cast<std::size_t>(i)];
    if (one.chosen >= 0 || one.finished == 0) continue;
    const auto ways = static_cast<int>(Possible(ranks(), kSmallest << (2 * i)).size());
    if (one.finished == kTries * ways) one.chosen = Fastest(i, ways);
  }
}

int StageWays::Fastest(int size_class, int ways) const {
  const auto seconds = [&](int way) {
    float least = std::numeric_limits<float>::infinity();
    for (const Board* board : boards_) {
      const auto& row = board->seconds[static_cast<std::size_t>(size_class)];
      least = std::min(least, row[static_cast<std::size_t>(way)].load(std::memory_order_relaxed));
    }
    return least;
  };
  int best = 0;
  for (int way = 1; way < ways; ++way) {
    if (seconds(way) < seconds(best)) best = way;
  }
  return best;
}

}  // namespace horovodx::collectives

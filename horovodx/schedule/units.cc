#include "horovodx/schedule/units.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace horovodx::schedule {

bool Fits(std::uint64_t a, std::uint64_t b, std::uint64_t threshold) {
  return a <= threshold && b <= threshold - a;
}

bool MayJoin(const Unit& last, std::uint64_t bytes, const Unit& next, std::uint64_t threshold) {
  return threshold > 0 && last.mix == next.mix && Fits(bytes, next.bytes, threshold);
}

std::vector<Unit> UnitsOf(const std::vector<Tensor>& tensors, std::uint64_t threshold) {
  std::vector<Unit> units;
  for (int i = 0; i < static_cast<int>(tensors.size()); ++i) {
    const Tensor& t = tensors[i];
    const bool joins = i > 0 && t.group >= 0 && t.group == tensors[i - 1].group &&
                       t.mix == tensors[i - 1].mix && threshold > 0 &&
                       Fits(units.back().bytes, t.bytes, threshold);
    if (!joins) {
      units.push_back({i, i + 1, t.ready, t.bytes, t.mix});
      continue;
    }
    units.back().last = i + 1;
    units.back().bytes += t.bytes;
    units.back().ready = std::max(units.back().ready, t.ready);
  }
  return units;
}

std::vector<std::size_t> FirstMates(const std::vector<Unit>& units, std::uint64_t threshold) {
  std::vector<std::size_t> firsts(units.size());
  std::size_t first = 0;
  std::uint64_t bytes = 0;  // of units [first, i)
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (i > 0 && (threshold == 0 || units[i].mix != units[i - 1].mix)) {
      first = i;
      bytes = 0;
    }
    while (first < i && !Fits(bytes, units[i].bytes, threshold)) bytes -= units[first++].bytes;
    bytes += units[i].bytes;
    firsts[i] = first;
  }
  return firsts;
}

Buckets BucketsOf(const std::vector<Unit>& units, const std::vector<std::size_t>& ends) {
  Buckets buckets;
  std::size_t from = 0;
  for (const std::size_t end : ends) {
    std::vector<int> bucket(static_cast<std::size_t>(units[end - 1].last - units[from].first));
    std::iota(bucket.begin(), bucket.end(), units[from].first);
    buckets.push_back(std::move(bucket));
    from = end;
  }
  return buckets;
}

}  // namespace horovodx::schedule

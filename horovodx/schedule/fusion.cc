#include <algorithm>

#include "horovodx/schedule/cut.h"
#include "horovodx/schedule/units.h"

namespace horovodx::schedule {
namespace {

// How many units from `first` on leave together when the line is free at `start`.
std::size_t CountLeaving(const std::vector<Unit>& units, std::size_t first, double start,
                         std::uint64_t threshold) {
  std::uint64_t bytes = units[first].bytes;
  std::size_t next = first + 1;
  while (threshold > 0 && next < units.size() && units[next].ready <= start &&
         units[next].mix == units[first].mix && Fits(bytes, units[next].bytes, threshold)) {
    bytes += units[next++].bytes;
  }
  return next - first;
}

}  // namespace

Buckets CutFusion(const std::vector<Tensor>& tensors, const Options& options) {
  const std::vector<Unit> units = UnitsOf(tensors, options.threshold);
  Buckets buckets;
  double free_at = 0.0;
  for (std::size_t i = 0; i < units.size();) {
    const double start = std::max(free_at, units[i].ready);
    const std::size_t count = CountLeaving(units, i, start, options.threshold);
    std::vector<int> bucket;
    double bytes = 0.0;
    for (std::size_t u = i; u < i + count; ++u) {
      for (int t = units[u].first; t < units[u].last; ++t) bucket.push_back(t);
      bytes += static_cast<double>(units[u].bytes);
    }
    buckets.push_back(std::move(bucket));
    free_at = start + options.latency + bytes * options.seconds_per_byte;
    i += count;
  }
  return buckets;
}

}  // namespace horovodx::schedule

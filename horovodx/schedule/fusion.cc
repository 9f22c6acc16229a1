#include <algorithm>

#include "horovodx/schedule/cut.h"
#include "horovodx/schedule/units.h"

namespace horovodx::schedule {

Buckets CutFusion(const std::vector<Tensor>& tensors, const Options& options) {
  const std::vector<Unit> units = UnitsOf(tensors, options.threshold);
  std::vector<std::size_t> ends;
  double free_at = 0.0;
  for (std::size_t i = 0; i < units.size();) {
    const double start = std::max(free_at, units[i].ready);
    std::uint64_t bytes = units[i].bytes;
    std::size_t next = i + 1;
    while (next < units.size() && units[next].ready <= start &&
           MayJoin(units[i], bytes, units[next], options.threshold)) {
      bytes += units[next++].bytes;
    }
    free_at = start + options.cost.Seconds(bytes);
    ends.push_back(i = next);
  }
  return BucketsOf(units, ends);
}

}  // namespace horovodx::schedule

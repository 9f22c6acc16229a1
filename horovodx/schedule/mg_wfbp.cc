#include <algorithm>

#include "horovodx/schedule/cut.h"
#include "horovodx/schedule/units.h"

namespace horovodx::schedule {

// The publication recomputes all starts after every merge; only the one of the bucket that is being
// filled changes, so one pass does. tests/ hold it to the published form.
Buckets CutMgWfbp(const std::vector<Tensor>& tensors, const Options& options) {
  const std::vector<Unit> units = UnitsOf(tensors, options.threshold);
  const double latency = options.cost.latency();
  std::vector<std::size_t> ends;
  std::uint64_t bytes = 0;  // of the bucket that is being filled
  double start = 0.0;       // when it could leave
  for (std::size_t i = 0; i < units.size(); ++i) {
    start = std::max(start, units[i].ready);
    bytes += units[i].bytes;
    const bool waits = i + 1 < units.size() && units[i + 1].ready - start < latency &&
                       MayJoin(units[i], bytes, units[i + 1], options.threshold);
    if (waits) continue;
    ends.push_back(i + 1);
    start += options.cost.Seconds(bytes);
    bytes = 0;
  }
  return BucketsOf(units, ends);
}

}  // namespace horovodx::schedule

#include "horovodx/schedule/cut.h"
#include "horovodx/schedule/units.h"

namespace horovodx::schedule {

Buckets CutFixed(const std::vector<Tensor>& tensors, const Options& options) {
  const std::vector<Unit> units = UnitsOf(tensors, options.threshold);
  std::vector<std::size_t> ends;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    bytes += units[i].bytes;
    const bool last = i + 1 == units.size();
    if (last || bytes >= options.bucket_bytes ||
        !MayJoin(units[i], bytes, units[i + 1], options.threshold)) {
      ends.push_back(i + 1);
      bytes = 0;
    }
  }
  return BucketsOf(units, ends);
}

}  // namespace horovodx::schedule

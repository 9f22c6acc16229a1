#include <numeric>

#include "horovodx/schedule/cut.h"
#include "horovodx/schedule/units.h"

namespace horovodx::schedule {

Buckets CutWfbp(const std::vector<Tensor>& tensors, const Options& options) {
  const std::vector<Unit> units = UnitsOf(tensors, options.threshold);
  std::vector<std::size_t> ends(units.size());
  std::iota(ends.begin(), ends.end(), 1);
  return BucketsOf(units, ends);
}

}  // namespace horovodx::schedule

#include <numeric>

#include "horovodx/schedule/cut.h"
#include "horovodx/schedule/units.h"

namespace horovodx::schedule {

Buckets CutWfbp(const std::vector<Tensor>& tensors, const Options& options) {
  Buckets buckets;
  for (const Unit& unit : UnitsOf(tensors, options.threshold)) {
    std::vector<int> bucket(unit.last - unit.first);
    std::iota(bucket.begin(), bucket.end(), unit.first);
    buckets.push_back(std::move(bucket));
  }
  return buckets;
}

Buckets Cut(const std::string& rule, const std::vector<Tensor>& tensors, const Options& options) {
  return rule == "wfbp" ? CutWfbp(tensors, options) : CutFusion(tensors, options);
}

}  // namespace horovodx::schedule

#include "horovodx/schedule/units.h"

#include <algorithm>

namespace horovodx::schedule {

bool Fits(std::uint64_t a, std::uint64_t b, std::uint64_t threshold) {
  return a <= threshold && b <= threshold - a;
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

}  // namespace horovodx::schedule

#include "horovodx/schedule/cost_model.h"

#include <algorithm>
#include <utility>

#include "horovodx/base/check.h"

namespace horovodx::schedule {

CostModel CostModel::Of(std::vector<Piece> pieces) {
  HVDX_CHECK(!pieces.empty() && pieces.front().from == 0);
  for (std::size_t i = 1; i < pieces.size(); ++i) HVDX_CHECK(pieces[i - 1].from < pieces[i].from);
  CostModel model;
  model.pieces_ = std::move(pieces);
  return model;
}

CostModel CostModel::Of(Function function) {
  CostModel model;
  model.pieces_.clear();
  model.function_ = std::move(function);
  return model;
}

double CostModel::Seconds(std::uint64_t bytes) const {
  if (pieces_.empty()) return function_(bytes);
  const auto after = std::upper_bound(pieces_.begin(), pieces_.end(), bytes,
                                      [](std::uint64_t b, const Piece& p) { return b < p.from; });
  return std::prev(after)->At(static_cast<double>(bytes));
}

}  // namespace horovodx::schedule

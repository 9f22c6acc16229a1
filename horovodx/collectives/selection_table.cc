#include "horovodx/collectives/selection_table.h"

#include <cmath>
#include <limits>
#include <set>

namespace horovodx::collectives {
namespace {

constexpr int kLargest = 30;  // log2 of the last size looked at
constexpr auto kNoEnd = std::numeric_limits<std::size_t>::max();

std::set<std::size_t> SizesToLookAt(const SelectInput& input) {
  std::set<std::size_t> sizes = {0};
  for (int i = 0; i <= 2 * kLargest; ++i) {
    sizes.insert(static_cast<std::size_t>(std::exp2(0.5 * i)));
  }
  for (const AllreduceRule& rule : input.overrides) {
    sizes.insert(rule.begin);
    if (rule.end != kNoEnd) sizes.insert(rule.end);
  }
  return sizes;
}

}  // namespace

std::vector<SelectionRow> SelectionTable(SelectInput input) {
  std::vector<SelectionRow> table;
  for (const std::size_t bytes : SizesToLookAt(input)) {
    input.bytes = bytes;
    const Selected selected = SelectAllreduceAndSay(input);
    const bool same = !table.empty() && table.back().selected.algorithm == selected.algorithm &&
                      table.back().selected.why == selected.why;
    if (same) continue;
    if (!table.empty()) table.back().end = bytes;
    table.push_back({bytes, kNoEnd, selected});
  }
  return table;
}

}  // namespace horovodx::collectives

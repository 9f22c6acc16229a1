// The choice of a rule by its name.
#include <array>

#include "horovodx/schedule/cut.h"

namespace horovodx::schedule {
namespace {

using Rule = Buckets (*)(const std::vector<Tensor>& tensors, const Options& options);

constexpr std::array<std::string_view, 5> kNames = {"wfbp", "fusion", "buckets", "mgwfbp",
                                                    "optimal"};
constexpr std::array<Rule, 5> kRules = {CutWfbp, CutFusion, CutFixed, CutMgWfbp, CutOptimal};

}  // namespace

std::span<const std::string_view> RuleNames() { return kNames; }

Buckets Cut(std::string_view rule, const std::vector<Tensor>& tensors, const Options& options) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == rule) return kRules[i](tensors, options);
  }
  return CutFusion(tensors, options);
}

}  // namespace horovodx::schedule

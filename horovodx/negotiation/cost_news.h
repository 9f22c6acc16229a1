// CostNews: whether what allreduces take is worth a line in the log. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace horovodx::negotiation {

class CostNews {
 public:
  // Sizes to ask for.
  static constexpr std::size_t kBytes[] = {1 << 10, 64 << 10, 1 << 20, 32 << 20};

  // `seconds` that an allreduce of these sizes takes. True the first time, and when one of them has
  // moved by more than a quarter since this last was true.
  bool Heard(std::vector<double> seconds) {
    const bool same = std::equal(
        seconds.begin(), seconds.end(), said_.begin(), said_.end(),
        [](double now, double said) { return now < kMoved * said && said < kMoved * now; });
    if (same) return false;
    said_ = std::move(seconds);
    return true;
  }

 private:
  static constexpr double kMoved = 1.25;
  std::vector<double> said_;
};

}  // namespace horovodx::negotiation

// Every cut there is, one after another: what the rules are held to.
#pragma once

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "horovodx/schedule/cut.h"

namespace horovodx::schedule {

// The earliest end over all cuts into runs of neighbours that keep the invariants of cut.h, for
// tensors without groups. O(2^n).
inline double EarliestEnd(const std::vector<Tensor>& tensors, const Options& options,
                          std::size_t from = 0, double free_at = 0.0) {
  if (from == tensors.size()) return free_at;
  double best = std::numeric_limits<double>::infinity();
  double ready = free_at;
  std::uint64_t bytes = 0;
  for (std::size_t i = from; i < tensors.size(); ++i) {
    ready = std::max(ready, tensors[i].ready);
    bytes += tensors[i].bytes;
    const bool alone = i == from;
    if (!alone && (tensors[i].mix != tensors[from].mix || bytes > options.threshold)) break;
    best =
        std::min(best, EarliestEnd(tensors, options, i + 1, ready + options.cost.Seconds(bytes)));
    if (options.threshold == 0) break;
  }
  return best;
}

// Backward times and sizes in forward order: the last layer is ready first.
inline std::vector<Tensor> StepOf(const std::vector<double>& backward,
                                  const std::vector<std::uint64_t>& bytes) {
  std::vector<Tensor> tensors;
  double ready = 0.0;
  for (std::size_t i = backward.size(); i-- > 0;) {
    ready += backward[i];
    tensors.push_back({ready, bytes[i], 0, -1});
  }
  return tensors;
}

// Whole numbers, so that ends are exact and may be compared for equality.
class RandomSteps {
 public:
  explicit RandomSteps(std::uint32_t seed) : random_(seed) {}

  int Number(int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random_);
  }
  // 1 to 12 tensors in order of readiness; some at the same moment, some without a byte.
  std::vector<Tensor> Tensors(int mixes) {
    std::vector<Tensor> tensors(static_cast<std::size_t>(Number(1, 12)));
    const int gap = 1 << Number(0, 4);
    const int most_bytes = 1 << Number(0, 5);
    double ready = 0.0;
    for (Tensor& t : tensors) {
      t.ready = ready += Number(0, gap);
      t.bytes = static_cast<std::uint64_t>(Number(0, most_bytes));
      t.mix = Number(1, mixes);
    }
    return tensors;
  }
  std::uint64_t Threshold() {
    const int which = Number(0, 9);
    return which == 0 ? 0 : which < 5 ? static_cast<std::uint64_t>(Number(1, 60)) : 1000;
  }
  CostModel Line() {
    return {static_cast<double>(Number(0, 20)), static_cast<double>(Number(0, 3))};
  }
  // 2 to 4 pieces, that may jump where they meet.
  CostModel Pieces() {
    std::vector<Piece> pieces = {{0, 1.0 * Number(0, 20), 1.0 * Number(0, 3)}};
    for (int more = Number(1, 3); more > 0; --more) {
      const Piece& before = pieces.back();
      Piece next{before.from + static_cast<std::uint64_t>(Number(1, 20)), 0.0, 1.0 * Number(0, 3)};
      const double at = static_cast<double>(next.from);
      next.latency = before.At(at) + Number(0, 10) - at * next.seconds_per_byte;
      pieces.push_back(next);
    }
    return CostModel::Of(std::move(pieces));
  }
  // Any cost that never decreases.
  CostModel Table() {
    std::vector<double> seconds = {1.0 * Number(0, 20)};
    while (seconds.size() < 12 * 32 + 1) seconds.push_back(seconds.back() + Number(0, 9) / 4);
    return CostModel::Of([seconds](std::uint64_t bytes) { return seconds.at(bytes); });
  }

 private:
  std::mt19937 random_;
};

// Sanitized code is some ten times as slow.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int kRandomCases = 5'000;
#else
inline constexpr int kRandomCases = 100'000;
#endif

}  // namespace horovodx::schedule

#include "tools/bench/stats.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace horovodx::bench {

double Percentile(std::vector<double> values, double fraction) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto rank =
      static_cast<std::size_t>(std::ceil(fraction * static_cast<double>(values.size())));
  return values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
}

std::optional<double> Bar(int ranks, std::size_t bytes) {
  if (ranks != 2 && ranks != 4) return std::nullopt;
  constexpr std::size_t kKiB = 1024;
  constexpr std::size_t kMiB = 1024 * kKiB;
  if (bytes <= 4 * kKiB) return ranks == 2 ? 4.0 : 2.0;
  if (bytes >= 16 * kKiB && bytes <= 256 * kKiB) return ranks == 2 ? 1.5 : 1.0;
  if (bytes >= kMiB && bytes <= 8 * kMiB) return 0.7;
  if (bytes >= 64 * kMiB) return 0.35;
  return std::nullopt;
}

double AlgorithmBandwidth(std::size_t bytes, double seconds) {
  return seconds > 0 ? static_cast<double>(bytes) / seconds : 0;
}

double BusBandwidth(std::size_t bytes, double seconds, int ranks) {
  return AlgorithmBandwidth(bytes, seconds) * 2 * (ranks - 1) / ranks;
}

std::string SizeText(std::size_t bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB"};
  int unit = 0;
  while (unit < 3 && bytes >= 1024 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return std::to_string(bytes) + " " + units[unit];
}

std::string TimeText(double seconds) {
  char text[32];
  if (seconds < 1e-3) {
    std::snprintf(text, sizeof(text), "%.1f us", seconds * 1e6);
  } else if (seconds < 1) {
    std::snprintf(text, sizeof(text), "%.2f ms", seconds * 1e3);
  } else {
    std::snprintf(text, sizeof(text), "%.2f s", seconds);
  }
  return text;
}

}  // namespace horovodx::bench

#include "horovodx/schedule/cost_fit.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace horovodx::schedule {
namespace {

double Quantile(std::vector<double> values, double share) {
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

}  // namespace

int SizeClassOf(std::uint64_t bytes) {
  return bytes == 0 ? -1
                    : static_cast<int>(std::floor(2.0 * std::log2(static_cast<double>(bytes))));
}

void CostFit::Add(std::uint64_t bytes, double seconds) {
  if (!std::isfinite(seconds) || seconds <= 0.0) return;
  SizeClass& c = classes_[SizeClassOf(bytes)];
  c.samples[c.count++ % kKept] = {static_cast<double>(bytes), seconds};
  c.newest = ++samples_;
}

std::uint64_t CostFit::smallest() const {
  if (classes_.empty()) return 0;
  const SizeClass& c = classes_.begin()->second;
  double least = c.samples[0].bytes;
  for (std::size_t i = 1; i < std::min<std::uint64_t>(c.count, kKept); ++i) {
    least = std::min(least, c.samples[i].bytes);
  }
  return static_cast<std::uint64_t>(least);
}

std::uint64_t CostFit::SamplesLike(std::uint64_t bytes) const {
  const auto it = classes_.find(SizeClassOf(bytes));
  return it == classes_.end() ? 0 : it->second.count;
}

std::vector<Point> CostFit::Points() const {
  std::vector<Point> all;
  std::vector<Point> recent;
  for (const auto& [number, c] : classes_) {
    std::vector<double> bytes;
    std::vector<double> seconds;
    for (std::size_t i = 0; i < std::min<std::uint64_t>(c.count, kKept); ++i) {
      bytes.push_back(c.samples[i].bytes);
      seconds.push_back(c.samples[i].seconds);
    }
    // A class with few samples says less.
    const double weight = std::min(1.0, 0.25 * static_cast<double>(seconds.size()));
    all.push_back({Quantile(bytes, 0.25), Quantile(seconds, 0.25), weight});
    if (samples_ - c.newest < kLongAgo) recent.push_back(all.back());
  }
  return recent.size() >= 3 ? recent : all;
}

CostModel CostFit::Fit() const {
  const std::vector<Point> points = Points();
  if (points.empty()) return {prior_.latency, prior_.seconds_per_byte};
  const Point& last = points.back();
  if (points.size() == 1) {  // the shape is not known; the height is
    const double ratio = last.seconds / std::max(prior_.At(last.bytes), 1e-12);
    return {prior_.latency * ratio, prior_.seconds_per_byte * ratio};
  }
  std::vector<Piece> pieces = FitPieces(points, kMostPieces);
  if (pieces.back().seconds_per_byte < prior_.seconds_per_byte) {
    const double end = pieces.back().At(last.bytes);
    pieces.push_back({static_cast<std::uint64_t>(last.bytes) + 1,
                      end - last.bytes * prior_.seconds_per_byte, prior_.seconds_per_byte});
  }
  return CostModel::Of(std::move(pieces));
}

double Distance(const CostModel& a, const CostModel& b, const std::vector<std::uint64_t>& sizes) {
  double most = 1.0;
  for (const std::uint64_t bytes : sizes) {
    const double x = std::max(a.Seconds(bytes), 1e-12);
    const double y = std::max(b.Seconds(bytes), 1e-12);
    most = std::max({most, x / y, y / x});
  }
  return most - 1.0;
}

std::string Describe(const CostModel& cost) {
  std::string text;
  for (const Piece& piece : cost.pieces()) {
    char line[96];
    const double rate = piece.seconds_per_byte > 0.0 ? 1e-9 / piece.seconds_per_byte : 0.0;
    if (!text.empty()) text += "; from " + std::to_string(piece.from) + " bytes ";
    std::snprintf(line, sizeof line, "%.1f us", 1e6 * piece.latency);
    text += line;
    if (rate <= 0.0) continue;
    std::snprintf(line, sizeof line, " + %.3g GB/s", rate);
    text += line;
  }
  return text.empty() ? "a function" : text;
}

}  // namespace horovodx::schedule

#include "horovodx/schedule/line_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "horovodx/base/check.h"

namespace horovodx::schedule {
namespace {

constexpr std::size_t kLeastPoints = 3;
// What another piece must save, in relative errors of points: noise of a few per cent a point does
// not reach it, a jump does.
constexpr double kPriceOfAPiece = 0.3;

double ErrorOf(const Piece& line, const std::vector<Point>& points) {
  double sum = 0.0;
  for (const Point& p : points) {
    sum += p.weight * std::abs(line.At(p.bytes) - p.seconds) / p.seconds;
  }
  return sum;
}

// More bytes never take less: neighbours that say so are replaced by their mean.
void MakeMonotone(std::vector<Point>& points) {
  struct Level {
    double seconds, weight;
    std::size_t count;
  };
  std::vector<Level> levels;
  for (const Point& p : points) {
    levels.push_back({p.seconds, p.weight, 1});
    while (levels.size() > 1 && levels[levels.size() - 2].seconds > levels.back().seconds) {
      const Level last = levels.back();
      levels.pop_back();
      Level& to = levels.back();
      to.seconds =
          (to.seconds * to.weight + last.seconds * last.weight) / (to.weight + last.weight);
      to.weight += last.weight;
      to.count += last.count;
    }
  }
  std::size_t i = 0;
  for (const Level& level : levels) {
    for (std::size_t k = 0; k < level.count; ++k) points[i++].seconds = level.seconds;
  }
}

struct Segment {
  std::size_t first = 0, last = 0;  // points [first, last)
  Piece line;
};

// The segments with the least sum of errors and prices.
std::vector<Segment> Divide(const std::vector<Point>& points, int most_pieces) {
  const std::size_t n = points.size();
  const double never = std::numeric_limits<double>::infinity();
  const auto pieces = static_cast<std::size_t>(std::max(1, most_pieces));
  // best[k][j]: of the first j points in k segments.
  std::vector<std::vector<double>> best(pieces + 1, std::vector<double>(n + 1, never));
  std::vector<std::vector<Segment>> last(pieces + 1, std::vector<Segment>(n + 1));
  best[0][0] = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    if (i > 0 && (i < kLeastPoints || n - i < kLeastPoints)) continue;
    for (std::size_t j = i + 1; j <= n; ++j) {
      const bool whole = i == 0 && j == n;
      if (!whole && (j - i < kLeastPoints || (j < n && n - j < kLeastPoints))) continue;
      const std::vector<Point> some(points.begin() + static_cast<std::ptrdiff_t>(i),
                                    points.begin() + static_cast<std::ptrdiff_t>(j));
      const Piece line = FitLine(some, i == 0 ? 0.0 : -never);
      const double error = ErrorOf(line, some) + kPriceOfAPiece;
      for (std::size_t k = 0; k < pieces; ++k) {
        if (best[k][i] + error >= best[k + 1][j]) continue;
        best[k + 1][j] = best[k][i] + error;
        last[k + 1][j] = {i, j, line};
      }
    }
  }
  std::size_t k = 1;
  for (std::size_t more = 2; more <= pieces; ++more) {
    if (best[more][n] < best[k][n]) k = more;
  }
  std::vector<Segment> segments;
  for (std::size_t j = n; k > 0; j = segments.back().first, --k) segments.push_back(last[k][j]);
  std::reverse(segments.begin(), segments.end());
  return segments;
}

// Where the second line takes over: where they cross, if that is between their points.
std::uint64_t Border(const Piece& a, const Piece& b, double low, double high) {
  const double crossing = (a.latency - b.latency) / (b.seconds_per_byte - a.seconds_per_byte);
  const double border = crossing > low && crossing <= high ? crossing : std::sqrt(low * high);
  return static_cast<std::uint64_t>(std::ceil(std::clamp(border, low + 1.0, high)));
}

}  // namespace

Piece FitLine(const std::vector<Point>& points, double least_latency) {
  HVDX_CHECK(!points.empty());
  Piece best;
  double least = std::numeric_limits<double>::infinity();
  const auto offer = [&](double latency, double slope) {
    if (slope < 0.0 || latency < least_latency) return;
    const Piece line{0, latency, slope};
    if (const double error = ErrorOf(line, points); error < least) {
      least = error;
      best = line;
    }
  };
  // The best line goes through two points, or through one and along a bound.
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Point& p = points[i];
    offer(p.seconds, 0.0);
    if (p.bytes > 0.0 && std::isfinite(least_latency)) {
      offer(least_latency, (p.seconds - least_latency) / p.bytes);
    }
    for (std::size_t j = i + 1; j < points.size(); ++j) {
      const double slope = (points[j].seconds - p.seconds) / (points[j].bytes - p.bytes);
      offer(p.seconds - slope * p.bytes, slope);
    }
  }
  return best;
}

std::vector<Piece> FitPieces(std::vector<Point> points, int most_pieces) {
  MakeMonotone(points);
  std::vector<Piece> pieces;
  double low = 0.0;
  for (const Segment& segment : Divide(points, most_pieces)) {
    Piece next = segment.line;
    if (!pieces.empty()) {
      const Piece& before = pieces.back();
      next.from = Border(before, next, low, points[segment.first].bytes);
      const auto at = static_cast<double>(next.from);
      next.latency += std::max(0.0, before.At(at) - next.At(at));
    }
    pieces.push_back(next);
    low = points[segment.last - 1].bytes;
  }
  return pieces;
}

}  // namespace horovodx::schedule

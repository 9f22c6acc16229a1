#include "horovodx/schedule/in_a_row.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace horovodx::schedule {
namespace {

// Of the smallest that was measured, as the latency that was not; and at most so many seconds.
constexpr double kUnseenShare = 0.25;
constexpr double kMostUnseen = 1e-3;

struct Corner {
  double bytes = 0.0;
  double seconds = 0.0;
};

double Slope(const Corner& a, const Corner& b) {
  return (b.seconds - a.seconds) / (b.bytes - a.bytes);
}

// Where pieces begin and end; of a jump only its upper side can be on the hull. Later corners are
// not below earlier ones.
std::vector<Corner> CornersOf(const std::vector<Piece>& pieces, double first) {
  std::vector<Corner> corners = {{0.0, first}};
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    const auto at = static_cast<double>(pieces[i].from);
    corners.push_back({at, std::max(pieces[i - 1].At(at), pieces[i].At(at))});
  }
  return corners;
}

}  // namespace

CostModel InARow(const CostModel& cost, std::uint64_t smallest) {
  const std::vector<Piece>& pieces = cost.pieces();
  if (pieces.empty()) return cost;
  const double pace = pieces.back().seconds_per_byte;
  const double of_smallest = cost.Seconds(smallest) - static_cast<double>(smallest) * pace;
  const double least = std::min(kMostUnseen, kUnseenShare * cost.Seconds(smallest));
  std::vector<Corner> hull;
  for (const Corner& corner : CornersOf(pieces, std::max({cost.latency(), of_smallest, least}))) {
    while (hull.size() > 1 &&
           Slope(hull[hull.size() - 2], hull.back()) <= Slope(hull.back(), corner)) {
      hull.pop_back();
    }
    hull.push_back(corner);
  }
  // The last piece goes on for ever: what rises more slowly on the way to it is below its line.
  while (hull.size() > 1 && Slope(hull[hull.size() - 2], hull.back()) <= pace) hull.pop_back();
  std::vector<Piece> result;
  for (std::size_t i = 0; i < hull.size(); ++i) {
    const double slope = i + 1 < hull.size() ? Slope(hull[i], hull[i + 1]) : pace;
    result.push_back({static_cast<std::uint64_t>(hull[i].bytes),
                      hull[i].seconds - slope * hull[i].bytes, slope});
  }
  return CostModel::Of(std::move(result));
}

}  // namespace horovodx::schedule

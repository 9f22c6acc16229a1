// Lines through measured points: as few pieces as they need. Pure.
#pragma once

#include <vector>

#include "horovodx/schedule/cost_model.h"

namespace horovodx::schedule {

struct Point {
  double bytes = 0.0;
  double seconds = 0.0;  // > 0
  double weight = 1.0;
};

// The line of slope >= 0 with the least sum of relative errors, so that a small collective counts
// as much as a large one and a wild point no more than any other. `least_latency` bounds what it
// says of no bytes. O(n^3).
Piece FitLine(const std::vector<Point>& points, double least_latency);

// Pieces of lines that never decrease, from 0 on. Points in order of bytes, at least one, no two of
// equal size. A piece more must be worth it, and has at least three points. O(n^5) with a small
// constant: n is a few dozen.
std::vector<Piece> FitPieces(std::vector<Point> points, int most_pieces);

}  // namespace horovodx::schedule

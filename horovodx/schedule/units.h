// Units: what a cut must not take apart, a single tensor or the neighbours of one group. Pure.
#pragma once

#include <vector>

#include "horovodx/schedule/cut.h"

namespace horovodx::schedule {

struct Unit {
  int first = 0;  // tensors [first, last)
  int last = 0;
  double ready = 0.0;  // when the last of them is
  std::uint64_t bytes = 0;
  int mix = 0;
};

// A group's neighbours of one mix that fit the threshold together are one unit. O(n).
std::vector<Unit> UnitsOf(const std::vector<Tensor>& tensors, std::uint64_t threshold);

// True if a + b is within the threshold, whatever overflows.
bool Fits(std::uint64_t a, std::uint64_t b, std::uint64_t threshold);

}  // namespace horovodx::schedule

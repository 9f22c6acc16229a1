// Units: what a cut must not take apart, a single tensor or the neighbours of one group. Pure.
#pragma once

#include <cstddef>
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

// True if `next` may join a bucket that holds `bytes` and ends with `last`.
bool MayJoin(const Unit& last, std::uint64_t bytes, const Unit& next, std::uint64_t threshold);

// For each unit the first one with which it may share a bucket together with all between. Never
// decreases. O(n).
std::vector<std::size_t> FirstMates(const std::vector<Unit>& units, std::uint64_t threshold);

// The tensors of buckets that end before units ends[0], ends[1], ...
Buckets BucketsOf(const std::vector<Unit>& units, const std::vector<std::size_t>& ends);

}  // namespace horovodx::schedule

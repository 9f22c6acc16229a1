// CostFit: what collectives take, learnt from what they took. Pure; one thread at a time.
//
// Samples are kept by classes of size, two to a doubling, the newest of each. A class counts with
// its lower quartile (of sizes too, so that the two belong together): times are too long when a
// rank came late or a machine was busy elsewhere, but never too short. Through the classes go
// pieces of lines.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "horovodx/schedule/cost_model.h"
#include "horovodx/schedule/line_fit.h"

namespace horovodx::schedule {

// Two to a doubling.
int SizeClassOf(std::uint64_t bytes);

class CostFit {
 public:
  // `prior` is believed until there are measurements, and of sizes far above all measured ones it
  // is believed that they are no faster than it says.
  explicit CostFit(Piece prior) : prior_(prior) {}

  // One collective. What is no time (not finite, not above 0) is ignored. O(1).
  void Add(std::uint64_t bytes, double seconds);
  std::uint64_t samples() const { return samples_; }
  // The least size that Fit() has seen; 0 before anything was measured.
  std::uint64_t smallest() const;

  // Never decreases. See FitPieces() for the cost.
  CostModel Fit() const;
  // What each class of sizes counts with, in order of size; of those that are not long ago, if they
  // are enough. O(samples kept).
  std::vector<Point> Points() const;
  // Samples ever taken of sizes like this.
  std::uint64_t SamplesLike(std::uint64_t bytes) const;

 private:
  static constexpr std::size_t kKept = 32;         // samples of a class
  static constexpr std::uint64_t kLongAgo = 4096;  // samples since; such a class may have changed
  static constexpr int kMostPieces = 4;

  struct Sample {
    double bytes, seconds;
  };
  struct SizeClass {
    std::array<Sample, kKept> samples;
    std::uint64_t count = 0;   // ever
    std::uint64_t newest = 0;  // the number of its last sample
  };

  Piece prior_;
  std::uint64_t samples_ = 0;
  std::map<int, SizeClass> classes_;
};

// How far two costs are apart: the largest ratio minus 1 over these sizes. 0: not at all.
double Distance(const CostModel& a, const CostModel& b, const std::vector<std::uint64_t>& sizes);

// "12.1 us + 3.92 GB/s; from 65536 bytes 40.2 us + 1.10 GB/s"
std::string Describe(const CostModel& cost);

}  // namespace horovodx::schedule

// Gaussian process regression with a squared-exponential kernel, and the expected improvement over
// the best point seen. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace horovodx::tuning {

// A point of the unit cube.
inline constexpr std::size_t kDimensions = 3;
using Place = std::array<double, kDimensions>;

class GaussianProcess {
 public:
  // Through `values` at `places` (as many, at least one). `noise` is the standard deviation of a
  // value, in units of the spread of all values. The length of the kernel is that with the largest
  // likelihood of a dozen; with places enough, then each dimension's own. O(n^3) for each.
  GaussianProcess(std::vector<Place> places, std::vector<double> values, double noise);

  struct Guess {
    double mean = 0.0;
    double deviation = 0.0;
  };
  // In the units of the values. O(n^2).
  Guess At(const Place& place) const;
  // How much better than the best mean of all places so far a value here is expected to be, by more
  // than `least` of their spread.
  double ExpectedImprovement(const Place& place, double least) const;
  // Of the kernel, by dimension: long where it does not matter.
  const Place& lengths() const { return lengths_; }

 private:
  void ChooseLengths();
  // The logarithm of the likelihood with these lengths; leaves the factor in place.
  double Factor(const Place& lengths);
  double Kernel(const Place& a, const Place& b) const;
  std::vector<double> SolveLower(std::vector<double> right) const;

  std::vector<Place> places_;
  std::vector<double> values_;  // normalized
  double middle_ = 0.0;
  double spread_ = 1.0;
  double noise_;
  Place lengths_{};
  std::vector<std::vector<double>> factor_;  // lower triangle of the kernel's Cholesky factor
  std::vector<double> weights_;              // the kernel's inverse times values_
  double best_ = 0.0;                        // the best mean at any of places_, normalized
};

}  // namespace horovodx::tuning

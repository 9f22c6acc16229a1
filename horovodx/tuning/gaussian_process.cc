#include "horovodx/tuning/gaussian_process.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace horovodx::tuning {
namespace {

constexpr double kLeastNoise = 1e-3;
constexpr double kLengths[] = {0.05, 0.08, 0.12, 0.18, 0.25, 0.35, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0};
constexpr std::size_t kPlacesForOwnLengths = 8;

double Density(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2.0 * M_PI); }
double Distribution(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

}  // namespace

GaussianProcess::GaussianProcess(std::vector<Place> places, std::vector<double> values,
                                 double noise)
    : places_(std::move(places)), values_(std::move(values)), noise_(std::max(noise, kLeastNoise)) {
  const auto n = static_cast<double>(values_.size());
  middle_ = std::accumulate(values_.begin(), values_.end(), 0.0) / n;
  double squares = 0.0;
  for (const double v : values_) squares += (v - middle_) * (v - middle_);
  spread_ = std::max(std::sqrt(squares / n), 1e-12 * std::max(1.0, std::abs(middle_)));
  for (double& v : values_) v = (v - middle_) / spread_;
  ChooseLengths();
  best_ = -std::numeric_limits<double>::infinity();
  for (const Place& place : places_) {
    best_ = std::max(best_, (At(place).mean - middle_) / spread_);
  }
}

void GaussianProcess::ChooseLengths() {
  double likeliest = -std::numeric_limits<double>::infinity();
  Place best{};
  const auto consider = [&](const Place& lengths) {
    const double likelihood = Factor(lengths);
    if (likelihood <= likeliest) return;
    likeliest = likelihood;
    best = lengths;
  };
  for (const double length : kLengths) {
    Place same;
    same.fill(length);
    consider(same);
  }
  for (std::size_t d = 0; d < kDimensions && places_.size() >= kPlacesForOwnLengths; ++d) {
    for (const double length : kLengths) {
      Place lengths = best;
      lengths[d] = length;
      consider(lengths);
    }
  }
  Factor(best);
}

double GaussianProcess::Kernel(const Place& a, const Place& b) const {
  double sum = 0.0;
  for (std::size_t d = 0; d < kDimensions; ++d) {
    const double apart = (a[d] - b[d]) / lengths_[d];
    sum += apart * apart;
  }
  return std::exp(-0.5 * sum);
}

double GaussianProcess::Factor(const Place& lengths) {
  lengths_ = lengths;
  const std::size_t n = places_.size();
  factor_.assign(n, std::vector<double>(n));
  double log_determinant = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = Kernel(places_[i], places_[j]) + (i == j ? noise_ * noise_ : 0.0);
      for (std::size_t k = 0; k < j; ++k) sum -= factor_[i][k] * factor_[j][k];
      factor_[i][j] = i == j ? std::sqrt(std::max(sum, 1e-12)) : sum / factor_[j][j];
    }
    log_determinant += 2.0 * std::log(factor_[i][i]);
  }
  weights_ = SolveLower(values_);
  const double fit = std::inner_product(weights_.begin(), weights_.end(), weights_.begin(), 0.0);
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) weights_[i] -= factor_[k][i] * weights_[k];
    weights_[i] /= factor_[i][i];
  }
  return -0.5 * (fit + log_determinant);
}

std::vector<double> GaussianProcess::SolveLower(std::vector<double> right) const {
  for (std::size_t i = 0; i < right.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) right[i] -= factor_[i][k] * right[k];
    right[i] /= factor_[i][i];
  }
  return right;
}

GaussianProcess::Guess GaussianProcess::At(const Place& place) const {
  std::vector<double> near;
  for (const Place& other : places_) near.push_back(Kernel(place, other));
  const double mean = std::inner_product(near.begin(), near.end(), weights_.begin(), 0.0);
  const std::vector<double> known = SolveLower(near);
  const double told = std::inner_product(known.begin(), known.end(), known.begin(), 0.0);
  return {middle_ + spread_ * mean, spread_ * std::sqrt(std::max(1.0 - told, 0.0))};
}

double GaussianProcess::ExpectedImprovement(const Place& place, double least) const {
  const Guess guess = At(place);
  const double deviation = guess.deviation / spread_;
  const double gain = (guess.mean - middle_) / spread_ - best_ - least;
  if (deviation < 1e-9) return std::max(gain, 0.0) * spread_;
  const double z = gain / deviation;
  return spread_ * (gain * Distribution(z) + deviation * Density(z));
}

}  // namespace horovodx::tuning

#include "horovodx/tuning/gaussian_process.h"

#include <gtest/gtest.h>

#include <cmath>

namespace horovodx::tuning {
namespace {

TEST(GaussianProcessTest, GoesThroughItsPointsWhereThereIsNoNoise) {
  std::vector<Place> places;
  std::vector<double> values;
  for (double x : {0.0, 0.2, 0.45, 0.7, 1.0}) {
    places.push_back({x, 0.0});
    values.push_back(1000.0 + 50.0 * std::sin(4.0 * x));
  }
  const GaussianProcess process(places, values, 0.0);
  for (std::size_t i = 0; i < places.size(); ++i) {
    EXPECT_NEAR(process.At(places[i]).mean, values[i], 0.5);
    EXPECT_LT(process.At(places[i]).deviation, 1.0);
  }
  EXPECT_NEAR(process.At({0.3, 0.0}).mean, 1000.0 + 50.0 * std::sin(1.2), 3.0);
  EXPECT_GT(process.At({0.3, 1.0}).deviation, process.At({0.3, 0.0}).deviation);
}

TEST(GaussianProcessTest, WithNoiseItBelievesTheirMean) {
  const GaussianProcess process({{0.5, 0.5}, {0.5, 0.5}, {0.5, 0.5}, {0.0, 0.0}}, {9, 10, 11, 0},
                                0.5);
  EXPECT_GT(process.At({0.5, 0.5}).mean, 7.0);
  EXPECT_LT(process.At({0.5, 0.5}).mean, 11.0);
}

TEST(GaussianProcessTest, ExpectsMostWhereItIsHighOrUnknown) {
  const GaussianProcess process({{0.0, 0.0}, {0.4, 0.0}, {0.5, 0.0}}, {1.0, 5.0, 5.2}, 0.01);
  EXPECT_GT(process.ExpectedImprovement({0.6, 0.0}, 0.01),
            process.ExpectedImprovement({0.05, 0.0}, 0.01));
  EXPECT_GE(process.ExpectedImprovement({0.5, 0.0}, 0.01), 0.0);
  EXPECT_LT(process.ExpectedImprovement({0.5, 0.0}, 0.01),
            process.ExpectedImprovement({1.0, 1.0}, 0.01));
}

TEST(GaussianProcessTest, AlongADimensionThatDoesNotMatterItIsLong) {
  std::vector<Place> places;
  std::vector<double> values;
  for (int i = 0; i < 20; ++i) {
    const double x = (i % 5) / 4.0;
    places.push_back({x, (i * 7 % 20) / 19.0, (i * 3 % 4) / 3.0});
    values.push_back(std::sin(6.0 * x));
  }
  const GaussianProcess process(places, values, 0.1);
  EXPECT_LT(process.lengths()[0], process.lengths()[1]);
  EXPECT_LT(process.lengths()[0], process.lengths()[2]);
  EXPECT_NEAR(process.At({0.25, 0.9, 0.1}).mean, std::sin(1.5), 0.2);
}

TEST(GaussianProcessTest, EqualValuesAndOneValueAreNoTrouble) {
  const GaussianProcess same({{0.1, 0.1}, {0.9, 0.9}}, {3.0, 3.0}, 0.8);
  EXPECT_NEAR(same.At({0.5, 0.5}).mean, 3.0, 1e-6);
  EXPECT_TRUE(std::isfinite(same.ExpectedImprovement({0.5, 0.5}, 0.01)));
  const GaussianProcess one({{0.1, 0.1}}, {3.0}, 0.8);
  EXPECT_TRUE(std::isfinite(one.ExpectedImprovement({0.5, 0.5}, 0.01)));
}

}  // namespace
}  // namespace horovodx::tuning

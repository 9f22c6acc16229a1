#include "horovodx/schedule/level_fit.h"

#include <gtest/gtest.h>

#include <random>

namespace horovodx::schedule {
namespace {

using collectives::LevelCosts;

constexpr LevelCosts kTrue{{3e-6, 1.0 / 8e9}, {200e-6, 1.0 / 12e6}};

double Takes(const LevelPoint& p, const LevelCosts& links) {
  return p.host_steps * links.host.latency + p.host_bytes * links.host.seconds_per_byte +
         p.net_steps * links.net.latency + p.net_bytes * links.net.seconds_per_byte;
}

// Allreduces of many sizes and several shapes; every fifth takes far too long.
std::vector<LevelPoint> Measured(bool late, double noise) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> wrong(1.0 - noise, 1.0 + noise);
  std::vector<LevelPoint> points;
  for (double bytes = 64; bytes < 1e8; bytes *= 2) {
    for (const auto& [host, net] :
         {std::pair(2.0, 6.0), std::pair(4.0, 2.0), std::pair(0.0, 14.0)}) {
      LevelPoint p{host, host * bytes / 2, net, net * bytes / 4, 0.0, 1.0};
      p.seconds = Takes(p, kTrue) * wrong(random);
      if (late && points.size() % 5 == 0) p.seconds *= 8.0;
      points.push_back(p);
    }
  }
  return points;
}

TEST(LevelFitTest, FindsTheLinksFarFromThePrior) {
  const LevelCosts found = FitLevels(Measured(false, 0.0), {});
  EXPECT_NEAR(found.net.latency / kTrue.net.latency, 1.0, 0.1);
  EXPECT_NEAR(found.net.seconds_per_byte / kTrue.net.seconds_per_byte, 1.0, 0.05);
}

TEST(LevelFitTest, EveryFifthTimeFarTooLongDoesNotMatter) {
  const auto points = Measured(true, 0.05);
  const LevelCosts found = FitLevels(points, {});
  for (const LevelPoint& p : Measured(false, 0.0)) {
    EXPECT_NEAR(Takes(p, found) / p.seconds, 1.0, 0.15) << p.net_bytes;
  }
}

TEST(LevelFitTest, WhatIsNotToldKeepsItsPlace) {
  const LevelCosts prior;
  std::vector<LevelPoint> net_only;
  for (const LevelPoint& p : Measured(false, 0.0)) {
    if (p.host_steps == 0.0) net_only.push_back(p);
  }
  const LevelCosts found = FitLevels(net_only, prior);
  EXPECT_NEAR(found.host.latency / prior.host.latency, 1.0, 0.02);
  EXPECT_NEAR(found.host.seconds_per_byte / prior.host.seconds_per_byte, 1.0, 0.02);
  EXPECT_NEAR(found.net.latency / kTrue.net.latency, 1.0, 0.05);
}

TEST(LevelFitTest, OnePointSetsTheHeight) {
  LevelPoint p{2, 1e6, 4, 1e6, 0.0, 1.0};
  p.seconds = 30 * Takes(p, LevelCosts{});
  const LevelCosts found = FitLevels({p}, {});
  EXPECT_NEAR(Takes(p, found) / p.seconds, 1.0, 0.03);
  EXPECT_GT(found.host.latency, 0.0);
  EXPECT_GT(found.net.latency, 0.0);
}

TEST(LevelFitTest, NothingMeasuredIsThePrior) {
  EXPECT_EQ(FitLevels({}, kTrue).net.latency, kTrue.net.latency);
}

}  // namespace
}  // namespace horovodx::schedule

// What an allreduce will take, from what links take and what allreduces took. Pure.
//
// Links have a latency and a bandwidth inside a host and between hosts; with them every algorithm
// has a prediction by its count of messages and bytes (level_traffic.h), also one that never ran.
// Where it did run, its prediction is corrected by what it took: a factor, by size.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "horovodx/collectives/select.h"

namespace horovodx::collectives {

struct LevelTraffic;  // level_traffic.h

// A message takes latency + bytes * seconds_per_byte.
struct LinkCost {
  double latency = 0.0;
  double seconds_per_byte = 0.0;
};

// The first values are only where a fit starts from.
struct LevelCosts {
  LinkCost host = {10e-6, 1.0 / 5e9};
  LinkCost net = {40e-6, 1.0 / 1.2e9};
};

// At this size an algorithm took `factor` times what its links predict.
struct Correction {
  double bytes = 1.0;  // >= 1
  double factor = 1.0;
};

struct AllreduceCosts {
  LevelCosts levels;
  // By algorithm, in order of size; empty: never ran.
  std::array<std::vector<Correction>, kAllreduceAlgorithms> corrections;

  const std::vector<Correction>& Of(AllreduceAlgorithm algorithm) const {
    return corrections[static_cast<std::size_t>(algorithm)];
  }
};

struct Prediction {
  double seconds = 0.0;
  bool measured = false;                                  // it ran at about this size
  double away = std::numeric_limits<double>::infinity();  // doublings, from where it ran
};
Prediction PredictAllreduce(AllreduceAlgorithm algorithm, const SelectInput& input,
                            const AllreduceCosts& costs);

// Until all ranks have their result; or until rank 0 has.
enum class Until { kAll, kFirst };
double SecondsByLinks(AllreduceAlgorithm algorithm, const SelectInput& input,
                      const LevelCosts& levels, Until until = Until::kAll);
// Until all have, of traffic that was counted before.
double SecondsByLinks(const LevelTraffic& traffic, const LevelCosts& levels);

}  // namespace horovodx::collectives

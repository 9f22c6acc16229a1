// What links take inside a host and between hosts, from what whole allreduces took. Pure.
#pragma once

#include <vector>

#include "horovodx/collectives/predict.h"

namespace horovodx::schedule {

// An allreduce that took so long, and the messages and bytes that it waited for on each level.
struct LevelPoint {
  double host_steps = 0.0;
  double host_bytes = 0.0;
  double net_steps = 0.0;
  double net_bytes = 0.0;
  double seconds = 0.0;  // > 0
  double weight = 1.0;
  double beside = 0.0;  // how much of the level that takes less time runs beside the other
};

// The links with which the points come out best: relative errors, of which large ones count only in
// proportion (Huber), so that a few wild points do not matter. What the points do not tell (one
// algorithm alone cannot tell both levels apart) keeps its proportion in `prior`. A search by steps
// in the logarithms of the four numbers: some thousand evaluations, none of which allocates.
collectives::LevelCosts FitLevels(const std::vector<LevelPoint>& points,
                                  const collectives::LevelCosts& prior);

}  // namespace horovodx::schedule

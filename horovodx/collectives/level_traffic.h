// Messages and bytes of an allreduce, told apart by whether they stay inside a host. Pure.
//
// Made of what the algorithms count of themselves (cost.h).
#pragma once

#include "horovodx/collectives/cost.h"
#include "horovodx/collectives/select.h"

namespace horovodx::collectives {

struct LevelTraffic {
  Cost host;
  Cost net;
  double flows = 1.0;    // ranks of a host that use its network at the same time
  double beside = 0.0;   // how much of the level that takes less time runs beside the other
  double reduced = 0.0;  // bytes added up along the way
  // Of the above, what is still under way when rank 0 has its result: trees end later below it.
  Cost host_after_first;
  Cost net_after_first;
};

// Uneven hosts count as of the average size, rounded up. Nothing among one rank.
LevelTraffic LevelTrafficOf(AllreduceAlgorithm algorithm, const SelectInput& input);

}  // namespace horovodx::collectives

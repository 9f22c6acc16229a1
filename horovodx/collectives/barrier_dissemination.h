// Dissemination barrier: nobody is through before everybody has come.
//
// In step k each rank tells the rank 2^k behind it that it, and all it has heard of, have come.
// ceil(log2 n) steps and as many empty messages per rank.
//
// Thread: the caller's; blocks until done, the interrupt is raised or a time limit passes.
#pragma once

#include "horovodx/base/status.h"
#include "horovodx/collectives/team.h"

namespace horovodx::collectives {

[[nodiscard]] Status BarrierDissemination(Team& team);

// What each rank sends.
Traffic CostOfBarrierDissemination(int ranks);

}  // namespace horovodx::collectives

// Alltoall of equal blocks by the form that suits their size (select_gather.h). Contract as
// alltoall_bruck.h. Uneven blocks: alltoall_counts.h, then alltoall_pairwise.h.
#pragma once

#include "horovodx/base/bytes.h"
#include "horovodx/base/status.h"
#include "horovodx/collectives/team.h"

namespace horovodx::collectives {

[[nodiscard]] Status Alltoall(Team& team, ConstBytes in, MutableBytes out);

}  // namespace horovodx::collectives

// Reducescatter by the form that suits its size (select_gather.h). Contract as
// reducescatter_ring.h.
#pragma once

#include "horovodx/base/status.h"
#include "horovodx/collectives/buffer.h"
#include "horovodx/collectives/patterns/blocks.h"
#include "horovodx/collectives/reducescatter_ring.h"
#include "horovodx/collectives/team.h"

namespace horovodx::collectives {

[[nodiscard]] Status Reducescatter(Team& team, const MutableBuffer& in, const Blocks& blocks,
                                   const MutableBuffer& out, const Reduction& reduction = {});

}  // namespace horovodx::collectives

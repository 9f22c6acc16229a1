// Allgather(v) by the form that suits its size, or by hosts if that is asked for (select_gather.h).
// Contract as allgather_ring.h.
#pragma once

#include <span>

#include "horovodx/base/bytes.h"
#include "horovodx/base/status.h"
#include "horovodx/collectives/patterns/blocks.h"
#include "horovodx/collectives/team.h"

namespace horovodx::collectives {

[[nodiscard]] Status Allgather(Team& team, const Blocks& blocks, std::span<const MutableBytes> out,
                               bool hierarchical = false);

}  // namespace horovodx::collectives

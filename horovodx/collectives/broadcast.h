// Broadcast by the form that suits its size (select_gather.h). Contract as broadcast_binomial.h.
#pragma once

#include <span>

#include "horovodx/base/bytes.h"
#include "horovodx/base/status.h"
#include "horovodx/collectives/team.h"

namespace horovodx::collectives {

[[nodiscard]] Status Broadcast(Team& team, int root, std::span<const MutableBytes> buffer);

}  // namespace horovodx::collectives

// ExchangeCounts: each rank learns how much every other has for it. Goes before an alltoallv.
//
// An alltoall of one number a pair, by the form select_gather.h names for it.
//
// Thread: the caller's; blocks until done, the interrupt is raised or a time limit passes.
#pragma once

#include <cstdint>
#include <span>

#include "horovodx/base/status.h"
#include "horovodx/collectives/team.h"

namespace horovodx::collectives {

// `send[i]`: how much I have for rank i. Afterwards `receive[i]`: how much rank i has for me. None
// may be negative; one that arrives so is an error that names its sender.
[[nodiscard]] Status ExchangeCounts(Team& team, std::span<const std::int64_t> send,
                                    std::span<std::int64_t> receive);

}  // namespace horovodx::collectives

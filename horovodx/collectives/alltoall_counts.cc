#include "horovodx/collectives/alltoall_counts.h"

#include <string>

#include "horovodx/collectives/alltoall.h"

namespace horovodx::collectives {

Status ExchangeCounts(Team& team, std::span<const std::int64_t> send,
                      std::span<std::int64_t> receive) {
  const auto n = static_cast<std::size_t>(team.size());
  if (send.size() != n || receive.size() != n) {
    return Status::InvalidArgument("alltoall: " + std::to_string(send.size()) + " and " +
                                   std::to_string(receive.size()) + " counts for a team of " +
                                   std::to_string(n));
  }
  HVDX_RETURN_IF_ERROR(Alltoall(team, std::as_bytes(send), std::as_writable_bytes(receive)));
  for (std::size_t rank = 0; rank < n; ++rank) {
    if (receive[rank] >= 0) continue;
    return Status::Unknown("alltoall: rank " + std::to_string(rank) + " announced " +
                           std::to_string(receive[rank]) + " for rank " +
                           std::to_string(team.rank()));
  }
  return Status::Ok();
}

}  // namespace horovodx::collectives

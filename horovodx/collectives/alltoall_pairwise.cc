#include "horovodx/collectives/alltoall_pairwise.h"

#include <algorithm>
#include <span>
#include <string>

namespace horovodx::collectives {
namespace {

ConstBytes Of(ConstBytes in, const Block& block) { return in.subspan(block.offset, block.size); }
MutableBytes Of(MutableBytes out, const Block& block) {
  return out.subspan(block.offset, block.size);
}

Status Check(const Team& team, ConstBytes in, const Blocks& send, MutableBytes out,
             const Blocks& receive) {
  if (!send.FitIn(in.size(), team.size()) || !receive.FitIn(out.size(), team.size())) {
    return Status::InvalidArgument("alltoall: the blocks do not fit the team or the buffers");
  }
  const std::size_t gives = send[team.rank()].size;
  const std::size_t takes = receive[team.rank()].size;
  if (gives != takes) {
    return Status::InvalidArgument("alltoall: rank " + std::to_string(team.rank()) + " has " +
                                   std::to_string(gives) + " bytes for itself but expects " +
                                   std::to_string(takes));
  }
  return Status::Ok();
}

}  // namespace

Status AlltoallPairwise(Team& team, ConstBytes in, const Blocks& send, MutableBytes out,
                        const Blocks& receive) {
  HVDX_RETURN_IF_ERROR(Check(team, in, send, out, receive));
  for (int step = 1; step < team.size(); ++step) {
    const int to = Wrap(team.rank() + step, team.size());
    const int from = Wrap(team.rank() - step, team.size());
    const ConstBytes leaving = Of(in, send[to]);
    const MutableBytes arriving = Of(out, receive[from]);
    HVDX_RETURN_IF_ERROR(team.Exchange(to, {&leaving, 1}, from, {&arriving, 1}));
  }
  std::ranges::copy(Of(in, send[team.rank()]), Of(out, receive[team.rank()]).begin());
  return Status::Ok();
}

Traffic CostOfAlltoallPairwise(const Blocks& send, int rank) {
  return {static_cast<std::uint64_t>(send.ranks() - 1), send.total() - send[rank].size};
}

}  // namespace horovodx::collectives

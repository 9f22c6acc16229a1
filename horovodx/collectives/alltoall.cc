#include "horovodx/collectives/alltoall.h"

#include <string>

#include "horovodx/collectives/alltoall_bruck.h"
#include "horovodx/collectives/alltoall_pairwise.h"
#include "horovodx/collectives/patterns/blocks.h"
#include "horovodx/collectives/select_gather.h"

namespace horovodx::collectives {

Status Alltoall(Team& team, ConstBytes in, MutableBytes out) {
  const int n = team.size();
  const std::size_t block_bytes = in.size() / static_cast<std::size_t>(n);
  if (in.size() != out.size() || in.size() != block_bytes * static_cast<std::size_t>(n)) {
    return Status::InvalidArgument("alltoall: " + std::to_string(in.size()) + " bytes into " +
                                   std::to_string(out.size()) + " are not equal blocks for " +
                                   std::to_string(n) + " ranks");
  }
  switch (SelectAlltoall(block_bytes, n)) {
    case AlltoallForm::kBruck:
      return AlltoallBruck(team, in, out);
    case AlltoallForm::kPairwise:
      break;
  }
  const Blocks even = Blocks::Rows(static_cast<std::size_t>(n), block_bytes, n);
  return AlltoallPairwise(team, in, even, out, even);
}

}  // namespace horovodx::collectives

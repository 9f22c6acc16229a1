#include "horovodx/collectives/allgather_bruck.h"

#include <algorithm>
#include <vector>

#include "horovodx/collectives/patterns/concatenation.h"

namespace horovodx::collectives {
namespace {

// The memory of `count` blocks from `first` on, round the circle.
template <typename Bytes>
std::vector<Bytes> Run(const Concatenation& memory, const Blocks& blocks, int first, int count) {
  std::vector<Bytes> run;
  for (int i = 0; i < count; ++i) {
    memory.Append(blocks[Wrap(first + i, blocks.ranks())], run);
  }
  return run;
}

}  // namespace

Status AllgatherBruck(Team& team, const Blocks& blocks, std::span<const MutableBytes> out) {
  const Concatenation memory(out);
  const int n = team.size();
  if (!blocks.FitIn(memory.size(), n)) {
    return Status::InvalidArgument("allgather: the blocks do not fit the team or the output");
  }
  for (int held = 1; held < n; held *= 2) {
    const int moved = std::min(held, n - held);
    const int before = Wrap(team.rank() - held, n);
    const int behind = Wrap(team.rank() + held, n);
    const auto send = Run<ConstBytes>(memory, blocks, team.rank(), moved);
    const auto receive = Run<MutableBytes>(memory, blocks, behind, moved);
    HVDX_RETURN_IF_ERROR(team.Exchange(before, send, behind, receive));
  }
  return Status::Ok();
}

Traffic CostOfAllgatherBruck(const Blocks& blocks, int rank) {
  Traffic cost;
  const int n = blocks.ranks();
  for (int held = 1; held < n; held *= 2) {
    ++cost.messages;
    for (int i = 0; i < std::min(held, n - held); ++i) {
      cost.bytes += blocks[Wrap(rank + i, n)].size;
    }
  }
  return cost;
}

}  // namespace horovodx::collectives

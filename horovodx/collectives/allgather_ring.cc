#include "horovodx/collectives/allgather_ring.h"

#include <vector>

#include "horovodx/collectives/patterns/concatenation.h"

namespace horovodx::collectives {
namespace {

// Walks over the segments of the blocks that pass one point of the ring: first, first-1, ..., all
// but one of them.
class Passage {
 public:
  Passage(const Blocks& blocks, int first, std::size_t segment_bytes)
      : blocks_(blocks), block_(first), blocks_left_(blocks.ranks() - 1), segment_(segment_bytes) {}

  bool over() const { return blocks_left_ == 0; }
  Block Next() {
    const Block segment = PartOf(blocks_[block_], segment_, index_);
    if (++index_ == PartsOf(blocks_[block_].size, segment_)) {
      index_ = 0;
      block_ = Wrap(block_ - 1, blocks_.ranks());
      --blocks_left_;
    }
    return segment;
  }

 private:
  const Blocks& blocks_;
  int block_;
  int blocks_left_;
  std::size_t segment_;
  std::size_t index_ = 0;
};

}  // namespace

Status AllgatherRing(Team& team, const Blocks& blocks, std::span<const MutableBytes> out,
                     std::size_t segment_bytes) {
  const Concatenation memory(out);
  if (!blocks.FitIn(memory.size(), team.size())) {
    return Status::InvalidArgument("allgather: the blocks do not fit the team or the output");
  }
  const int right = Wrap(team.rank() + 1, team.size());
  const int left = Wrap(team.rank() - 1, team.size());
  // What leaves is my block and then what came: always at least one segment behind what arrives.
  Passage leaving(blocks, team.rank(), segment_bytes);
  Passage arriving(blocks, left, segment_bytes);
  while (!leaving.over() && !arriving.over()) {
    const auto send = memory.ToSend(leaving.Next());
    HVDX_RETURN_IF_ERROR(team.Exchange(right, send, left, memory.ToReceive(arriving.Next())));
  }
  while (!arriving.over()) {
    HVDX_RETURN_IF_ERROR(team.Receive(left, memory.ToReceive(arriving.Next())));
  }
  while (!leaving.over()) {
    HVDX_RETURN_IF_ERROR(team.Send(right, memory.ToSend(leaving.Next())));
  }
  return Status::Ok();
}

Traffic CostOfAllgatherRing(const Blocks& blocks, int rank, std::size_t segment_bytes) {
  Traffic cost;
  const int right = Wrap(rank + 1, blocks.ranks());
  for (int block = 0; block < blocks.ranks(); ++block) {
    if (block == right) continue;
    cost.messages += PartsOf(blocks[block].size, segment_bytes);
    cost.bytes += blocks[block].size;
  }
  return cost;
}

}  // namespace horovodx::collectives

#include "horovodx/collectives/rank_slots.h"

#include "kernels/reduce.h"

namespace horovodx::collectives {

void RankSlots::ReduceInto(const MutableBuffer& own, ReduceOp op) {
  const std::size_t unit = SizeOf(own.type());
  std::vector<const void*> inputs(slots_.size());
  std::size_t at = 0;
  for (const auto& piece : own.pieces()) {
    for (std::size_t r = 0; r < slots_.size(); ++r) {
      const bool mine = static_cast<int>(r) == rank_;
      if (mine) {
        inputs[r] = piece.data;
      } else {
        const auto slot = slots_[r].Get(own.type(), own.count());
        inputs[r] = static_cast<const std::byte*>(slot.pieces().front().data) + at * unit;
      }
    }
    kernels::ReduceMany(own.type(), op, piece.data, inputs.data(), static_cast<int>(inputs.size()),
                        piece.count);
    at += piece.count;
  }
}

}  // namespace horovodx::collectives

#include "horovodx/collectives/reducescatter.h"

#include "horovodx/collectives/reducescatter_pairwise.h"
#include "horovodx/collectives/select_gather.h"

namespace horovodx::collectives {

Status Reducescatter(Team& team, const MutableBuffer& in, const Blocks& blocks,
                     const MutableBuffer& out, const Reduction& reduction) {
  switch (SelectReducescatter(blocks.total() * SizeOf(in.type()), team.size())) {
    case ReducescatterForm::kPairwise:
      return ReducescatterPairwise(team, in, blocks, out, reduction);
    case ReducescatterForm::kRing:
      break;
  }
  return ReducescatterRing(team, in, blocks, out, reduction);
}

}  // namespace horovodx::collectives

#include "horovodx/collectives/allgather.h"

#include "horovodx/collectives/allgather_bruck.h"
#include "horovodx/collectives/allgather_hierarchical.h"
#include "horovodx/collectives/allgather_ring.h"
#include "horovodx/collectives/select_gather.h"

namespace horovodx::collectives {

Status Allgather(Team& team, const Blocks& blocks, std::span<const MutableBytes> out,
                 bool hierarchical) {
  switch (SelectAllgather(blocks.total(), team.size(), team.hosts().hosts(), hierarchical)) {
    case AllgatherForm::kHierarchical:
      return AllgatherHierarchical(team, blocks, out);
    case AllgatherForm::kBruck:
      return AllgatherBruck(team, blocks, out);
    case AllgatherForm::kRing:
      break;
  }
  return AllgatherRing(team, blocks, out);
}

}  // namespace horovodx::collectives

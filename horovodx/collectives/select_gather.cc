#include "horovodx/collectives/select_gather.h"

namespace horovodx::collectives {
namespace {

constexpr std::size_t kKiB = 1 << 10;
constexpr std::size_t kMiB = 1 << 20;

}  // namespace

AllgatherForm SelectAllgather(std::size_t total_bytes, int ranks, int hosts, bool hierarchical) {
  if (hierarchical && hosts > 1 && hosts < ranks) return AllgatherForm::kHierarchical;
  const bool one_step = ranks <= 2;  // then both are the same exchange; the ring cuts it up
  if (one_step || total_bytes > 64 * kKiB) return AllgatherForm::kRing;
  return AllgatherForm::kBruck;
}

BroadcastForm SelectBroadcast(std::size_t bytes, int ranks) {
  if (ranks <= 2 || bytes <= 64 * kKiB) return BroadcastForm::kBinomial;
  // The chain fills and drains in n-2 segments; it pays once the buffer is a few times as long.
  const bool long_enough_for_chain = bytes / static_cast<std::size_t>(ranks) > kMiB / 2;
  return long_enough_for_chain ? BroadcastForm::kChain : BroadcastForm::kScatterAllgather;
}

AlltoallForm SelectAlltoall(std::size_t block_bytes, int ranks) {
  if (ranks <= 4 || block_bytes > 256) return AlltoallForm::kPairwise;
  return AlltoallForm::kBruck;
}

ReducescatterForm SelectReducescatter(std::size_t total_bytes, int ranks) {
  // Up to 16 ranks are added up in one pass.
  if (ranks <= 16 || total_bytes <= 256 * kKiB) return ReducescatterForm::kPairwise;
  return ReducescatterForm::kRing;
}

const char* NameOf(AllgatherForm form) {
  switch (form) {
    case AllgatherForm::kBruck:
      return "bruck";
    case AllgatherForm::kRing:
      return "ring";
    case AllgatherForm::kHierarchical:
      return "hierarchical";
  }
  return "unknown";
}

const char* NameOf(BroadcastForm form) {
  switch (form) {
    case BroadcastForm::kBinomial:
      return "binomial";
    case BroadcastForm::kScatterAllgather:
      return "scatter_allgather";
    case BroadcastForm::kChain:
      return "chain";
  }
  return "unknown";
}

const char* NameOf(AlltoallForm form) {
  return form == AlltoallForm::kBruck ? "bruck" : "pairwise";
}

const char* NameOf(ReducescatterForm form) {
  return form == ReducescatterForm::kPairwise ? "pairwise" : "ring";
}

}  // namespace horovodx::collectives

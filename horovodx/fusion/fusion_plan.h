// What travels together: which ready tensors are merged into one bucket. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/types.h"

namespace horovodx::fusion {

// What may be merged at all. Everything else (broadcast, alltoall, barrier, join, errors) is
// kSingle and travels alone.
enum class Family : std::uint8_t { kSingle, kAllreduce, kAdasum, kReducescatter, kAllgather };

// One tensor that is ready.
struct Item {
  Family family = Family::kSingle;
  ElementType type = ElementType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  std::int32_t device = -1;
  double prescale = 1.0;
  double postscale = 1.0;
  std::uint64_t bytes = 0;  // of the whole result: for a gather the parts of all members
  int group = -1;           // items of one group have the same number; -1: no group
};

struct Options {
  std::uint64_t threshold = 128u << 20;  // bytes; 0: nothing is merged
  bool disable_group_fusion = false;     // a group merges only with itself, a single with nothing
};

// True if both may stand in one bucket, sizes aside.
bool CanMerge(const Item& a, const Item& b);

// The buckets, each a list of indices into `items`, ascending. Every index appears once.
//
// From the first item left over, the following ones that match join it while the sum of bytes stays
// within the threshold; one that does not match is passed over, as long as the bytes merged and
// passed over stay within the threshold too (so that two types taking turns make two buckets, not
// many). An item larger than the threshold is alone. O(n^2) at worst, O(n) when all match.
std::vector<std::vector<int>> Fuse(const std::vector<Item>& items, const Options& options);

}  // namespace horovodx::fusion

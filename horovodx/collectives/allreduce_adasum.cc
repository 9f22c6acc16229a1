#include "horovodx/collectives/allreduce_adasum.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>
#include <vector>

#include "horovodx/collectives/adasum_rule.h"
#include "horovodx/collectives/allreduce_recursive_doubling.h"
#include "horovodx/collectives/exchange.h"

namespace horovodx::collectives {
namespace {

Status Check(const Team& team, const MutableBuffer& buffer, std::span<const std::size_t> tensors) {
  if (!std::has_single_bit(static_cast<unsigned>(team.size()))) {
    return Status::InvalidArgument("Adasum needs a power of two of ranks, not " +
                                   std::to_string(team.size()));
  }
  if (!AdasumSupports(buffer.type())) {
    return Status::InvalidArgument(std::string("Adasum needs a floating-point type, not ") +
                                   NameOf(buffer.type()));
  }
  const std::size_t all = std::accumulate(tensors.begin(), tensors.end(), std::size_t{0});
  if (all != buffer.count()) {
    return Status::InvalidArgument("Adasum got tensors of " + std::to_string(all) +
                                   " elements in a buffer of " + std::to_string(buffer.count()));
  }
  return Status::Ok();
}

// What I keep at one level, mine in the buffer and the neighbour's in scratch, and the side of the
// pair I am on. "a" is always the side whose bit is clear.
struct Pair {
  const MutableBuffer& buffer;
  Chunk kept;
  const std::byte* theirs;
  bool mine_is_a;

  // Calls f(a, b, mine, elements, tensor) for each run of the kept range that lies in one tensor
  // and in one piece of memory.
  template <typename F>
  void ForEachRun(std::span<const std::size_t> tensors, F f) const {
    const std::size_t unit = SizeOf(buffer.type());
    std::size_t tensor_begin = 0;
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      const std::size_t begin = std::max(tensor_begin, kept.begin);
      tensor_begin += tensors[t];
      const std::size_t end = std::min(tensor_begin, kept.end());
      if (begin >= end) continue;
      const std::byte* other = theirs + (begin - kept.begin) * unit;
      const MutableBuffer run = buffer.Slice(begin, end - begin);
      for (const auto& piece : run.pieces()) {
        const void* a = mine_is_a ? piece.data : other;
        const void* b = mine_is_a ? other : piece.data;
        f(a, b, piece.data, piece.count, t);
        other += piece.count * unit;
      }
    }
  }
};

// The whole vectors' sums, tensor by tensor: mine, added up over the ranks [first, first + count)
// that share the vectors of this level.
Status SumOverGroup(Team& team, int first, int count, std::vector<AdasumSums>& sums) {
  std::vector<int> ranks(static_cast<std::size_t>(count));
  std::iota(ranks.begin(), ranks.end(), first);
  Team group = team.Sub(ranks);
  const MutableBuffer flat(ElementType::kFloat64, sums.data(), 3 * sums.size());
  return AllreduceRecursiveDoubling(group, flat, ReduceOp::kSum);
}

Status CombineLevel(Team& team, const Pair& pair, int d, std::span<const std::size_t> tensors) {
  std::vector<AdasumSums> sums(tensors.size());
  const ElementType type = pair.buffer.type();
  pair.ForEachRun(tensors, [&](const void* a, const void* b, void*, std::size_t n, std::size_t t) {
    AddAdasumSums(type, a, b, n, sums[t]);
  });
  const int group = 2 << d;
  HVDX_RETURN_IF_ERROR(SumOverGroup(team, team.rank() / group * group, group, sums));
  pair.ForEachRun(tensors,
                  [&](const void* a, const void* b, void* to, std::size_t n, std::size_t t) {
                    CombineAdasum(type, AdasumFactorsOf(sums[t]), a, b, to, n);
                  });
  return Status::Ok();
}

}  // namespace

Status AllreduceAdasum(Team& team, const MutableBuffer& buffer,
                       std::span<const std::size_t> tensor_counts) {
  HVDX_RETURN_IF_ERROR(Check(team, buffer, tensor_counts));
  const HypercubePattern cube(team.rank(), team.size());
  const auto levels = Halvings(buffer.count(), team.rank(), cube.dimensions());
  Scratch scratch;
  for (int d = 0; d < cube.dimensions(); ++d) {
    const int peer = cube.Neighbour(d);
    const MutableBuffer theirs = scratch.Get(buffer.type(), levels[d].keep.count);
    HVDX_RETURN_IF_ERROR(SendAndCopy(team, peer, Part(buffer, levels[d].give), peer, theirs));
    const auto* memory = static_cast<const std::byte*>(theirs.pieces().front().data);
    const Pair pair{buffer, levels[d].keep, memory, team.rank() < peer};
    HVDX_RETURN_IF_ERROR(CombineLevel(team, pair, d, tensor_counts));
  }
  for (int d = cube.dimensions() - 1; d >= 0; --d) {
    const int peer = cube.Neighbour(d);
    HVDX_RETURN_IF_ERROR(
        SendAndCopy(team, peer, Part(buffer, levels[d].keep), peer, Part(buffer, levels[d].give)));
  }
  return Status::Ok();
}

}  // namespace horovodx::collectives

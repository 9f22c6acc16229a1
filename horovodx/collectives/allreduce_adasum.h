// Adasum allreduce: afterwards every rank holds the adaptive sum of all inputs, tensor by tensor.
//
// Defined as a balanced binary tree: ranks 2i and 2i+1 are combined by the rule of adasum_rule.h,
// then pairs of those, and so on. Computed by recursive vector halving and distance doubling: at
// level d ranks r and r xor 2^d swap halves of what they are responsible for; the dot products and
// squares of each tensor's part are added up over the 2^(d+1) ranks that hold a whole vector
// between them; then each combines what it kept. Afterwards the halves travel back. With t tensors
// and k = log2 n: 2k messages of 2 * bytes * (n-1)/n in all, and k(k+1)/2 small ones of 24 t bytes.
//
// Only for a power of two of ranks and floating-point types; anything else is an error.
//
// Partial results: in the buffer. Scratch: half of it, since no element can be combined before the
// whole vector's dot product is known.
//
// Thread: the caller's; blocks until done. `buffer` is borrowed for the call.
#pragma once

#include <cstddef>
#include <span>

#include "horovodx/base/status.h"
#include "horovodx/collectives/buffer.h"
#include "horovodx/collectives/cost.h"
#include "horovodx/collectives/patterns/hypercube.h"
#include "horovodx/collectives/team.h"

namespace horovodx::collectives {

// `tensor_counts`: elements of each tensor in the buffer, in order; where one tensor ends and the
// next begins matters to the result, how the buffer lies in pieces does not.
[[nodiscard]] Status AllreduceAdasum(Team& team, const MutableBuffer& buffer,
                                     std::span<const std::size_t> tensor_counts);

constexpr Cost CostOfAdasum(int ranks, std::size_t bytes, std::size_t tensors) {
  const auto k = static_cast<std::uint64_t>(HypercubePattern::Dimensions(ranks));
  const std::uint64_t sums = k * (k + 1) / 2;
  const double sent = 2 * Share(bytes, ranks - 1, ranks) +
                      static_cast<double>(sums) * 24.0 * static_cast<double>(tensors);
  return {2 * k + sums, sent, 2 * k + sums, sent};
}

}  // namespace horovodx::collectives

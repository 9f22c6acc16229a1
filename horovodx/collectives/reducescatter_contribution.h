// What one rank brings to a reducescatter, and how contributions are put together: the parts that
// the forms of reducescatter share.
//
// Thread: the caller's. Memory is borrowed.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "horovodx/base/bytes.h"
#include "horovodx/base/status.h"
#include "horovodx/collectives/buffer.h"
#include "horovodx/collectives/patterns/blocks.h"
#include "kernels/types.h"

namespace horovodx::collectives {

struct Reduction {
  ReduceOp op = ReduceOp::kSum;  // sum, min, max or product; an average is a sum and a postscale
  double prescale = 1.0;         // of every contribution
  double postscale = 1.0;        // of the result
};

// Whether the arguments of a reducescatter fit together.
[[nodiscard]] Status CheckReducescatter(int ranks, int rank, const MutableBuffer& in,
                                        const Blocks& blocks, const MutableBuffer& out,
                                        const Reduction& reduction);

// My input, prescaled, stretch by stretch. Never writes to it.
class Contribution {
 public:
  // No stretch will be longer than `longest` elements.
  Contribution(const MutableBuffer& in, const Reduction& reduction, std::size_t longest);

  // The stretch (in elements) as it is to be sent: the input's own memory, or a scaled copy in
  // `room`.
  std::vector<ConstBytes> ToSend(const Block& stretch, std::byte* room) const;
  // The stretch in one piece: the input's own memory, or a copy in `room`.
  const void* InOnePiece(const Block& stretch, std::byte* room) const;
  // partial[i] = op(partial[i], mine[i]).
  void AddTo(std::byte* partial, const Block& stretch);

 private:
  void Copy(const Block& stretch, std::byte* room) const;

  const MutableBuffer& in_;
  Reduction reduction_;
  std::unique_ptr<std::byte[]> scaled_;  // null when there is nothing to scale
};

// What has been put together of my block: elements [stretch] of `out` = result, times `factor`.
void Deliver(const void* result, const MutableBuffer& out, const Block& stretch, double factor);

}  // namespace horovodx::collectives

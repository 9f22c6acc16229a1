#include "horovodx/collectives/reducescatter_contribution.h"

#include <string>

#include "kernels/pack.h"
#include "kernels/reduce.h"

namespace horovodx::collectives {

Status CheckReducescatter(int ranks, int rank, const MutableBuffer& in, const Blocks& blocks,
                          const MutableBuffer& out, const Reduction& reduction) {
  if (reduction.op == ReduceOp::kAverage || reduction.op == ReduceOp::kAdasum) {
    return Status::InvalidArgument(std::string("reducescatter: cannot reduce by ") +
                                   NameOf(reduction.op));
  }
  if (!blocks.FitIn(in.count(), ranks)) {
    return Status::InvalidArgument("reducescatter: the blocks do not fit the team or the input");
  }
  if (out.type() != in.type() || out.count() != blocks[rank].size) {
    return Status::InvalidArgument("reducescatter: the output is " + std::to_string(out.count()) +
                                   " x " + NameOf(out.type()) + ", the block of rank " +
                                   std::to_string(rank) + " is " +
                                   std::to_string(blocks[rank].size) + " x " + NameOf(in.type()));
  }
  return Status::Ok();
}

Contribution::Contribution(const MutableBuffer& in, const Reduction& reduction, std::size_t longest)
    : in_(in), reduction_(reduction) {
  if (reduction.prescale != 1.0) {
    scaled_ = std::make_unique_for_overwrite<std::byte[]>(longest * SizeOf(in.type()));
  }
}

void Contribution::Copy(const Block& stretch, std::byte* room) const {
  kernels::Pack(in_.type(), room, in_.type(), in_.pieces().data(), in_.pieces().size(),
                stretch.offset, stretch.size, reduction_.prescale);
}

std::vector<ConstBytes> Contribution::ToSend(const Block& stretch, std::byte* room) const {
  if (scaled_ == nullptr) return in_.Slice(stretch.offset, stretch.size).ToSend();
  Copy(stretch, room);
  return {BytesOf(room, stretch.size * SizeOf(in_.type()))};
}

const void* Contribution::InOnePiece(const Block& stretch, std::byte* room) const {
  if (scaled_ == nullptr) {
    const MutableBuffer slice = in_.Slice(stretch.offset, stretch.size);
    if (slice.pieces().size() == 1) return slice.pieces().front().data;
  }
  Copy(stretch, room);
  return room;
}

void Contribution::AddTo(std::byte* partial, const Block& stretch) {
  const ElementType type = in_.type();
  if (scaled_ != nullptr) {
    Copy(stretch, scaled_.get());
    kernels::Reduce(type, reduction_.op, partial, scaled_.get(), stretch.size);
    return;
  }
  const MutableBuffer mine = in_.Slice(stretch.offset, stretch.size);
  for (const kernels::Piece& piece : mine.pieces()) {
    kernels::Reduce(type, reduction_.op, partial, piece.data, piece.count);
    partial += piece.count * SizeOf(type);
  }
}

void Deliver(const void* result, const MutableBuffer& out, const Block& stretch, double factor) {
  kernels::Unpack(out.type(), out.pieces().data(), out.pieces().size(), stretch.offset,
                  stretch.size, out.type(), result, factor);
}

}  // namespace horovodx::collectives

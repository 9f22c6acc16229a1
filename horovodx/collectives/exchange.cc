#include "horovodx/collectives/exchange.h"

#include <algorithm>

#include "horovodx/base/check.h"
#include "kernels/pack.h"
#include "kernels/reduce.h"

namespace horovodx::collectives {
namespace {

std::byte* DataOf(const MutableBuffer& contiguous) {
  HVDX_DCHECK(contiguous.contiguous());
  return contiguous.pieces().empty() ? nullptr
                                     : static_cast<std::byte*>(contiguous.pieces().front().data);
}

// Calls f(memory of the piece, memory at the same place of `flat`, elements) for every piece of
// [begin, end).
template <typename F>
void ForEachPiece(const MutableBuffer& buffer, std::byte* flat, std::size_t begin, std::size_t end,
                  F f) {
  const std::size_t unit = SizeOf(buffer.type());
  std::byte* at = flat + begin * unit;
  const MutableBuffer slice = buffer.Slice(begin, end - begin);
  for (const auto& piece : slice.pieces()) {
    f(piece.data, static_cast<void*>(at), piece.count);
    at += piece.count * unit;
  }
}

// flat = op(flat, own), elements [begin, end).
void ReduceFlat(const MutableBuffer& flat, const MutableBuffer& own, ReduceOp op, std::size_t begin,
                std::size_t end) {
  ForEachPiece(own, DataOf(flat), begin, end, [&](void* mine, void* theirs, std::size_t count) {
    kernels::Reduce(own.type(), op, theirs, mine, count);
  });
}

// own = op(own, flat), elements [begin, end).
void ReduceInto(const MutableBuffer& own, const MutableBuffer& flat, ReduceOp op, std::size_t begin,
                std::size_t end) {
  ForEachPiece(own, DataOf(flat), begin, end, [&](void* mine, void* theirs, std::size_t count) {
    kernels::Reduce(own.type(), op, mine, theirs, count);
  });
}

// own = op(flat, own). The order matters to the last bit: minimum of 0 and -0, payloads of NaN.
void ReduceIntoBehind(const MutableBuffer& own, const MutableBuffer& flat, ReduceOp op) {
  ForEachPiece(own, DataOf(flat), 0, own.count(), [&](void* mine, void* theirs, std::size_t count) {
    const void* inputs[] = {theirs, mine};
    kernels::ReduceMany(own.type(), op, mine, inputs, 2, count);
  });
}

WindowPlan MessagesOf(const Team& team, const MutableBuffer& buffer) {
  return {buffer.count(), team.SegmentOr(kMessageBytes) / SizeOf(buffer.type())};
}

}  // namespace

MutableBuffer Scratch::Get(ElementType type, std::size_t count) {
  const std::size_t bytes = count * SizeOf(type);
  if (bytes > bytes_) {
    memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    bytes_ = bytes;
  }
  return MutableBuffer(type, memory_.get(), count);
}

void Copy(const MutableBuffer& to, const MutableBuffer& from) {
  std::size_t at = 0;
  for (const auto& piece : from.pieces()) {
    kernels::Unpack(to.type(), to.pieces().data(), to.pieces().size(), at, piece.count, from.type(),
                    piece.data);
    at += piece.count;
  }
}

Status Send(Team& team, int to, const MutableBuffer& out) {
  const auto message = out.ToSend();
  return team.Send(to, message);
}

Status Receive(Team& team, int from, const MutableBuffer& in) {
  const auto message = in.ToReceive();
  return team.Receive(from, message);
}

Status SendAndCopy(Team& team, int to, const MutableBuffer& out, int from,
                   const MutableBuffer& in) {
  const auto send = out.ToSend();
  const auto receive = in.ToReceive();
  return team.Exchange(to, send, from, receive);
}

OnArrival ReduceOnArrival(const MutableBuffer& in, const MutableBuffer& own, ReduceOp op) {
  const std::size_t unit = SizeOf(in.type());
  return [in, own, op, unit](std::size_t begin, std::size_t end) {
    ReduceFlat(in, own, op, begin / unit, end / unit);
  };
}

Status SendAndReduce(Team& team, int to, const MutableBuffer& out, int from,
                     const MutableBuffer& in, const MutableBuffer& own, ReduceOp op) {
  const std::size_t unit = SizeOf(in.type());
  const auto send = out.ToSend();
  const auto receive = in.ToReceive();
  return team.Exchange(to, send, from, receive, unit, [&](std::size_t begin, std::size_t end) {
    ReduceFlat(in, own, op, begin / unit, end / unit);
  });
}

Status SendInMessages(Team& team, int to, const MutableBuffer& out) {
  const WindowPlan messages = MessagesOf(team, out);
  for (std::size_t m = 0; m < messages.windows(); ++m) {
    HVDX_RETURN_IF_ERROR(Send(team, to, Part(out, messages[m])));
  }
  return Status::Ok();
}

Status ReceiveAndReduceInto(Team& team, int from, const MutableBuffer& into, ReduceOp op,
                            Scratch& scratch) {
  const std::size_t unit = SizeOf(into.type());
  const WindowPlan messages = MessagesOf(team, into);
  for (std::size_t m = 0; m < messages.windows(); ++m) {
    const MutableBuffer own = Part(into, messages[m]);
    const MutableBuffer arrived = scratch.Get(own.type(), own.count());
    const auto receive = arrived.ToReceive();
    HVDX_RETURN_IF_ERROR(team.Receive(from, receive, unit, [&](std::size_t begin, std::size_t end) {
      ReduceInto(own, arrived, op, begin / unit, end / unit);
    }));
  }
  return Status::Ok();
}

Status SwapAndReduceInto(Team& team, int peer, const MutableBuffer& out, const MutableBuffer& into,
                         ReduceOp op, Scratch& scratch) {
  const std::size_t unit = SizeOf(into.type());
  const WindowPlan outs = MessagesOf(team, out);
  const WindowPlan ins = MessagesOf(team, into);
  const std::size_t both = std::min(outs.windows(), ins.windows());
  for (std::size_t m = 0; m < both; ++m) {
    const MutableBuffer own = Part(into, ins[m]);
    const MutableBuffer arrived = scratch.Get(own.type(), own.count());
    const auto send = Part(out, outs[m]).ToSend();
    const auto receive = arrived.ToReceive();
    HVDX_RETURN_IF_ERROR(
        team.Exchange(peer, send, peer, receive, unit, [&](std::size_t begin, std::size_t end) {
          ReduceInto(own, arrived, op, begin / unit, end / unit);
        }));
  }
  // Halves differ by up to one element, so one side may have a message more.
  if (outs.windows() > both) return Send(team, peer, Part(out, outs[both]));
  if (ins.windows() > both) {
    return ReceiveAndReduceInto(team, peer, Part(into, ins[both]), op, scratch);
  }
  return Status::Ok();
}

Status SwapAndReduceAll(Team& team, int peer, const MutableBuffer& buffer, ReduceOp op,
                        Scratch& scratch) {
  const WindowPlan messages = MessagesOf(team, buffer);
  for (std::size_t m = 0; m < messages.windows(); ++m) {
    const MutableBuffer own = Part(buffer, messages[m]);
    const MutableBuffer arrived = scratch.Get(own.type(), own.count());
    // Reduced when all is sent, not before: what is sent and what is reduced are the same memory.
    HVDX_RETURN_IF_ERROR(SendAndCopy(team, peer, own, peer, arrived));
    if (peer < team.rank()) {
      ReduceIntoBehind(own, arrived, op);
    } else {
      ReduceInto(own, arrived, op, 0, own.count());
    }
  }
  return Status::Ok();
}

}  // namespace horovodx::collectives

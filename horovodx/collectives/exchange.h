// The moves that allreduces are made of: sending one part of a buffer while receiving, and
// reducing, another.
//
// Thread: the team's. Buffers are borrowed for the call; scratch belongs to the caller, so that one
// piece of memory serves a whole collective. Every message is sent, also an empty one: then nobody
// is done before everybody has come.
#pragma once

#include <cstddef>
#include <memory>

#include "horovodx/base/status.h"
#include "horovodx/collectives/buffer.h"
#include "horovodx/collectives/patterns/chunks.h"
#include "horovodx/collectives/team.h"
#include "kernels/types.h"

namespace horovodx::collectives {

// What is reduced in place travels in messages of at most this, which bounds the scratch; or in
// segments of another size, if the team was asked for it.
inline constexpr std::size_t kMessageBytes = std::size_t{1} << 20;

// Memory that grows to what is asked of it, and is not cleared.
class Scratch {
 public:
  // The same memory every time (until it grows), as `count` elements of `type`.
  MutableBuffer Get(ElementType type, std::size_t count);

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t bytes_ = 0;
};

inline MutableBuffer Part(const MutableBuffer& buffer, const Chunk& chunk) {
  return buffer.Slice(chunk.begin, chunk.count);
}
// to = from, of equal count and type.
void Copy(const MutableBuffer& to, const MutableBuffer& from);

// --- one message each way

Status Send(Team& team, int to, const MutableBuffer& out);
Status Receive(Team& team, int from, const MutableBuffer& in);
Status SendAndCopy(Team& team, int to, const MutableBuffer& out, int from, const MutableBuffer& in);
// Afterwards in = op(what arrived, own); `own` is only read. Reduces while receiving. `in` lies in
// one piece and overlaps neither `out` nor `own`.
//
// The second half of it, for who moves the message otherwise; `in` and `own` are kept by what it
// returns.
OnArrival ReduceOnArrival(const MutableBuffer& in, const MutableBuffer& own, ReduceOp op);
Status SendAndReduce(Team& team, int to, const MutableBuffer& out, int from,
                     const MutableBuffer& in, const MutableBuffer& own, ReduceOp op);

// --- in place, in messages of at most kMessageBytes through as much scratch

Status SendInMessages(Team& team, int to, const MutableBuffer& out);
// Afterwards into = op(into, what arrived). The other side is SendInMessages.
Status ReceiveAndReduceInto(Team& team, int from, const MutableBuffer& into, ReduceOp op,
                            Scratch& scratch);
// Both at once, with one neighbour. `out` and `into` do not overlap; reduces while receiving.
Status SwapAndReduceInto(Team& team, int peer, const MutableBuffer& out, const MutableBuffer& into,
                         ReduceOp op, Scratch& scratch);
// Both sides send all of `buffer`; afterwards both hold op(the lower rank's, the higher rank's),
// the same bits.
Status SwapAndReduceAll(Team& team, int peer, const MutableBuffer& buffer, ReduceOp op,
                        Scratch& scratch);

}  // namespace horovodx::collectives

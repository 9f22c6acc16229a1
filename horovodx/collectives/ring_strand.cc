#include "horovodx/collectives/ring_strand.h"

#include <utility>

namespace horovodx::collectives {
namespace {

constexpr int kNobody = -1;

}  // namespace

RingStrand::Ring::Ring(std::size_t the_number, Team the_team, const MutableBuffer& the_buffer)
    : number(the_number),
      team(std::move(the_team)),
      buffer(the_buffer),
      windows(buffer.count(), team.SegmentOr(kRingChunkBytes) / SizeOf(buffer.type()) *
                                  static_cast<std::size_t>(team.size())),
      pattern(team.rank(), team.size()),
      halves(HalvesOf(buffer.count() * SizeOf(buffer.type()))) {}

void RingStrand::Ring::Advance(Place& at) const {
  if (++at.half < halves) return;
  at.half = 0;
  if (++at.step < 2 * pattern.steps()) return;
  at.step = 0;
  ++at.window;
}

MutableBuffer RingStrand::Ring::HalfAt(const Place& at) const {
  const MutableBuffer window = Part(buffer, windows[at.window]);
  return Part(window, ChunkPlan(window.count(), halves)[at.half]);
}

ChunkPlan RingStrand::Ring::ChunksAt(const Place& at) const {
  return {HalfAt(at).count(), team.size()};
}

RingStrand::~RingStrand() = default;

void RingStrand::Add(Team team, const MutableBuffer& buffer) {
  const std::size_t number = added_++;
  if (team.size() > 1) rings_.emplace_back(number, std::move(team), buffer);
}

Result<std::size_t> RingStrand::Pump() {
  std::size_t moved = 0;
  while (true) {
    HVDX_ASSIGN_OR_RETURN(const std::size_t out, PumpOut());
    HVDX_ASSIGN_OR_RETURN(const std::size_t in, PumpIn());
    if (out + in == 0) return moved;
    moved += out + in;
  }
}

// Bytes, and one for each message that is done: an empty one is progress too.
Result<std::size_t> RingStrand::PumpOut() {
  Ring* const ring = Sender();
  if (ring == nullptr) return 0;
  if (out_ == nullptr) {
    if (!MaySend(*ring)) return 0;
    StartSending(*ring);
  }
  HVDX_ASSIGN_OR_RETURN(const std::size_t moved, out_->Pump());
  if (!out_->done()) return moved;
  out_.reset();
  ++ring->sent;
  ring->Advance(ring->sending);
  ForgetFinished();
  return moved + 1;
}

Result<std::size_t> RingStrand::PumpIn() {
  Ring* const ring = Receiver();
  if (ring == nullptr) return 0;
  if (in_ == nullptr) {
    if (!MayReceive(*ring)) return 0;
    StartReceiving(*ring);
  }
  HVDX_ASSIGN_OR_RETURN(const std::size_t moved, in_->Pump());
  if (!in_->done()) return moved;
  in_.reset();
  OnReceived(*ring);
  ++ring->received;
  ring->Advance(ring->receiving);
  ForgetFinished();
  return moved + 1;
}

RingStrand::Ring* RingStrand::Sender() {
  for (Ring& ring : rings_) {
    if (!ring.Ended(ring.sending)) return &ring;
  }
  return nullptr;
}

RingStrand::Ring* RingStrand::Receiver() {
  for (Ring& ring : rings_) {
    if (!ring.Ended(ring.receiving)) return &ring;
  }
  return nullptr;
}

// A step of a half sends what its step before received.
bool RingStrand::MaySend(const Ring& ring) const {
  return ring.sending.step == 0 ||
         ring.sent < ring.received + static_cast<std::size_t>(ring.halves);
}

// What a step receives may go where the last but one step's was, which the last step has sent; a
// ring starts with scratch that the one before it needs no more.
bool RingStrand::MayReceive(const Ring& ring) const {
  if (ring.received < static_cast<std::size_t>(ring.halves)) return &ring == &rings_.front();
  return ring.received < ring.sent + static_cast<std::size_t>(ring.halves);
}

void RingStrand::StartSending(Ring& ring) {
  const Place at = ring.sending;
  const MutableBuffer half = ring.HalfAt(at);
  const ChunkPlan chunk = ring.ChunksAt(at);
  Flight::Messages messages;
  messages.to = ring.pattern.right();
  messages.from = kNobody;
  if (const int step = at.step - ring.pattern.steps(); step >= 0) {
    messages.out = Part(half, chunk[ring.pattern.GatherSend(step)]).ToSend();
  } else if (at.step == 0) {
    messages.out = Part(half, chunk[ring.pattern.ReduceSend(0)]).ToSend();
  } else {
    messages.out = ring.sums[at.half][(at.step - 1) % 2]->ToSend();
  }
  out_ = std::make_unique<Flight>(ring.team, std::move(messages));
}

void RingStrand::StartReceiving(Ring& ring) {
  const Place at = ring.receiving;
  const MutableBuffer half = ring.HalfAt(at);
  const ChunkPlan chunk = ring.ChunksAt(at);
  Flight::Messages messages;
  messages.to = kNobody;
  messages.from = ring.pattern.left();
  if (const int step = at.step - ring.pattern.steps(); step >= 0) {
    messages.in = Part(half, chunk[ring.pattern.GatherRecv(step)]).ToReceive();
  } else {
    const MutableBuffer own = Part(half, chunk[ring.pattern.ReduceRecv(at.step)]);
    const MutableBuffer arriving = scratch_[at.half][at.step % 2].Get(own.type(), own.count());
    messages.in = arriving.ToReceive();
    messages.unit = SizeOf(own.type());
    messages.on_arrival = ReduceOnArrival(arriving, own, op_);
    arriving_ = arriving;
  }
  in_ = std::make_unique<Flight>(ring.team, std::move(messages));
}

void RingStrand::OnReceived(Ring& ring) {
  const Place at = ring.receiving;
  if (at.step >= ring.pattern.steps()) return;
  ring.sums[at.half][at.step % 2] = arriving_;
  if (at.step + 1 < ring.pattern.steps()) return;
  Copy(Part(ring.HalfAt(at), ring.ChunksAt(at)[ring.team.rank()]), *arriving_);
}

void RingStrand::ForgetFinished() {
  while (!rings_.empty()) {
    const Ring& ring = rings_.front();
    if (!ring.Ended(ring.sending) || !ring.Ended(ring.receiving)) return;
    rings_.pop_front();
  }
}

}  // namespace horovodx::collectives

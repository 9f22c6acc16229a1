#include "horovodx/collectives/broadcast_chain.h"

#include "horovodx/collectives/patterns/blocks.h"
#include "horovodx/collectives/patterns/concatenation.h"

namespace horovodx::collectives {
namespace {

// The memory in the order in which its segments flow.
class Stream {
 public:
  Stream(std::span<const MutableBytes> buffer, std::size_t segment_bytes)
      : memory_(buffer), segment_bytes_(segment_bytes) {}
  std::size_t segments() const { return PartsOf(memory_.size(), segment_bytes_); }
  std::vector<ConstBytes> ToSend(std::size_t i) const { return memory_.ToSend(Segment(i)); }
  std::vector<MutableBytes> ToReceive(std::size_t i) const { return memory_.ToReceive(Segment(i)); }

 private:
  Block Segment(std::size_t i) const { return PartOf({0, memory_.size()}, segment_bytes_, i); }

  Concatenation memory_;
  std::size_t segment_bytes_;
};

Status SendAll(Team& team, int next, const Stream& stream) {
  for (std::size_t i = 0; i < stream.segments(); ++i) {
    HVDX_RETURN_IF_ERROR(team.Send(next, stream.ToSend(i)));
  }
  return Status::Ok();
}

Status ReceiveAll(Team& team, int previous, const Stream& stream) {
  for (std::size_t i = 0; i < stream.segments(); ++i) {
    HVDX_RETURN_IF_ERROR(team.Receive(previous, stream.ToReceive(i)));
  }
  return Status::Ok();
}

Status PassOn(Team& team, int previous, int next, const Stream& stream) {
  HVDX_RETURN_IF_ERROR(team.Receive(previous, stream.ToReceive(0)));
  for (std::size_t i = 1; i < stream.segments(); ++i) {
    const auto send = stream.ToSend(i - 1);
    HVDX_RETURN_IF_ERROR(team.Exchange(next, send, previous, stream.ToReceive(i)));
  }
  return team.Send(next, stream.ToSend(stream.segments() - 1));
}

}  // namespace

Status BroadcastChain(Team& team, int root, std::span<const MutableBytes> buffer,
                      std::size_t segment_bytes) {
  const int n = team.size();
  const int place = Wrap(team.rank() - root, n);
  const int previous = Wrap(team.rank() - 1, n);
  const int next = Wrap(team.rank() + 1, n);
  const Stream stream(buffer, segment_bytes);
  if (n == 1) return Status::Ok();
  if (place == 0) return SendAll(team, next, stream);
  if (place == n - 1) return ReceiveAll(team, previous, stream);
  return PassOn(team, previous, next, stream);
}

Traffic CostOfBroadcastChain(std::size_t bytes, int ranks, int root, int rank,
                             std::size_t segment_bytes) {
  if (Wrap(rank - root, ranks) == ranks - 1) return {};
  return {PartsOf(bytes, segment_bytes), bytes};
}

}  // namespace horovodx::collectives

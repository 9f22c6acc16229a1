#include "horovodx/transport/shm/layout.h"

#include <algorithm>

#include "horovodx/transport/byte_ring.h"

namespace horovodx::transport::shm {
namespace {

constexpr std::size_t kPage = 4096;
// Two cache lines: processors fetch lines in pairs, and a mark is read by all while it is written.
constexpr std::size_t kMarkBytes = 128;
constexpr std::size_t kSmallestRing = 1024;

std::size_t RoundUp(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

std::size_t RingBytes(int members, const ChannelSizes& sizes) {
  const auto pairs = static_cast<std::size_t>(members) * static_cast<std::size_t>(members - 1);
  const std::size_t share = sizes.all_rings_bytes / std::max<std::size_t>(pairs, 1);
  const std::size_t bytes = std::max(std::min(sizes.ring_bytes, share), kSmallestRing);
  return bytes / 64 * 64;
}

}  // namespace

ChannelLayout::ChannelLayout(int members, const ChannelSizes& sizes)
    : members_(members),
      slots_(sizes.slots),
      slot_bytes_(sizes.slot_bytes),
      ring_bytes_(RingBytes(members, sizes)),
      slot_memory_(RoundUp(counters(members), kPage)),
      rings_(slot_memory_ + static_cast<std::size_t>(slots_) * slot_bytes_) {}

Shape ChannelLayout::shape() const {
  Shape shape;
  shape.members = static_cast<std::uint32_t>(members_);
  shape.detail = static_cast<std::uint32_t>(slots_);
  shape.block_bytes = RoundUp(ring(0, members_), kPage);
  return shape;
}

std::size_t ChannelLayout::counters(int to) const {
  return kMarkBytes + static_cast<std::size_t>(to) * sizeof(ByteRing::Counters);
}

std::size_t ChannelLayout::ring(int me, int to) const {
  const int place = to > me ? to - 1 : to;  // there is no ring to oneself
  return rings_ + static_cast<std::size_t>(place) * ring_bytes_;
}

}  // namespace horovodx::transport::shm

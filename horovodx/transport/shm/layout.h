// Where things lie in a channel's segment. Pure.
//
// A member's block holds what that member writes: its stage mark, the counters of its outgoing
// rings, its stage slots, the rings themselves. (The reader of a ring writes its `read` counter.)
#pragma once

#include <cstddef>

#include "horovodx/transport/shm/segment.h"

namespace horovodx::transport::shm {

struct ChannelSizes {
  int slots = 4;
  std::size_t slot_bytes = 256 << 10;  // a multiple of 64
  std::size_t ring_bytes = 64 << 10;
  // Many members have many pairs: rings shrink so that together they stay below this, as far as the
  // smallest useful ring (1 KiB) allows.
  std::size_t all_rings_bytes = 16 << 20;
};

class ChannelLayout {
 public:
  ChannelLayout(int members, const ChannelSizes& sizes);

  Shape shape() const;
  int members() const { return members_; }
  int slots() const { return slots_; }
  std::size_t slot_bytes() const { return slot_bytes_; }
  std::size_t ring_bytes() const { return ring_bytes_; }

  // Offsets in a member's block. `to` is another member than the block's.
  std::size_t mark() const { return 0; }
  std::size_t counters(int to) const;
  std::size_t slot_memory() const { return slot_memory_; }
  std::size_t ring(int me, int to) const;

 private:
  int members_;
  int slots_;
  std::size_t slot_bytes_;
  std::size_t ring_bytes_;
  std::size_t slot_memory_;
  std::size_t rings_;
};

}  // namespace horovodx::transport::shm

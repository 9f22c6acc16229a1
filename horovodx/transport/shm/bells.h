// The bells of a host: one for each rank on it, in memory that all of them see.
//
// Made once, when the ranks of a host meet; the channels made later ring these.
#pragma once

#include <utility>
#include <vector>

#include "horovodx/base/bell.h"
#include "horovodx/transport/shm/segment.h"

namespace horovodx::transport::shm {

class Bells {
 public:
  static Shape ShapeFor(int members) {
    return {static_cast<std::uint32_t>(members), 0, sizeof(BellWord)};
  }
  // Owns the segment: the bells live as long as this.
  explicit Bells(Segment segment) : segment_(std::move(segment)) {}
  // Zeroed memory is a silent bell. `member` is a place among the ranks of this host.
  BellWord* of(int member) const { return reinterpret_cast<BellWord*>(segment_.block(member)); }

 private:
  Segment segment_;
};

}  // namespace horovodx::transport::shm

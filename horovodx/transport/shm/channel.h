// Channel: the shared-memory part of one channel on one host: links between its members there, and
// their stage.
//
// Thread: each link and the stage as their contracts say.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "horovodx/base/bell.h"
#include "horovodx/transport/ring_link.h"
#include "horovodx/transport/shm/layout.h"
#include "horovodx/transport/shm/segment.h"
#include "horovodx/transport/stage.h"

namespace horovodx::transport::shm {

// What the channel knows of a member.
struct Member {
  std::string name;  // for error messages: "rank 3 (node7, shared memory)"
  BellWord* bell;    // outlives the channel
};

class Channel {
 public:
  // `me` is my place among `members`, which are those of the channel on this host, in rank order.
  Channel(Segment segment, const ChannelLayout& layout, int me, const std::vector<Member>& members);

  // By place among the members; not my own.
  OutLink& Out(int member) { return out_[member]; }
  InLink& In(int member) { return in_[member]; }
  Stage& stage() { return *stage_; }

 private:
  ByteRing ring(int from, int to) const;

  Segment segment_;
  ChannelLayout layout_;
  std::vector<RingOutLink> out_;  // by member; my own is never used
  std::vector<RingInLink> in_;
  std::unique_ptr<Stage> stage_;
};

}  // namespace horovodx::transport::shm

#include "horovodx/transport/shm/channel.h"

#include <atomic>
#include <utility>

namespace horovodx::transport::shm {
namespace {

class SharedStage : public Stage {
 public:
  SharedStage(const Segment& segment, const ChannelLayout& layout, int me,
              const std::vector<Member>& members) {
    for (int member = 0; member < layout.members(); ++member) {
      std::byte* block = segment.block(member);
      bases_.push_back(block + layout.slot_memory());
      mark_pointers_.push_back(
          reinterpret_cast<std::atomic<std::uint64_t>*>(block + layout.mark()));
      bell_pointers_.push_back(members[member].bell);
    }
    rank_ = me;
    size_ = layout.members();
    slots_ = layout.slots();
    slot_bytes_ = layout.slot_bytes();
    base_ = bases_.data();
    marks_ = mark_pointers_.data();
    bells_ = bell_pointers_.data();
  }

 private:
  std::vector<std::byte*> bases_;
  std::vector<std::atomic<std::uint64_t>*> mark_pointers_;
  std::vector<BellWord*> bell_pointers_;
};

}  // namespace

Channel::Channel(Segment segment, const ChannelLayout& layout, int me,
                 const std::vector<Member>& members)
    : segment_(std::move(segment)), layout_(layout) {
  for (int member = 0; member < layout_.members(); ++member) {
    const Bell bell(members[member].bell);
    const bool self = member == me;
    out_.emplace_back(self ? ByteRing() : ring(me, member), bell, members[member].name);
    in_.emplace_back(self ? ByteRing() : ring(member, me), bell, members[member].name);
  }
  stage_ = std::make_unique<SharedStage>(segment_, layout_, me, members);
}

ByteRing Channel::ring(int from, int to) const {
  std::byte* block = segment_.block(from);
  return ByteRing(reinterpret_cast<ByteRing::Counters*>(block + layout_.counters(to)),
                  block + layout_.ring(from, to), layout_.ring_bytes());
}

}  // namespace horovodx::transport::shm

#include "horovodx/transport/loopback/world.h"

#include <algorithm>
#include <utility>

#include "horovodx/transport/loopback/channel.h"
#include "horovodx/transport/loopback/mailbox.h"
#include "horovodx/transport/ring_link.h"

namespace horovodx::transport::loopback {
namespace {

class LoopbackStage : public Stage {
 public:
  LoopbackStage(Channel& channel, int member, const std::vector<BellWord*>& bells) {
    const auto& here = channel.hosts.ranks_on(channel.hosts.host_of(member));
    for (int other : here) {
      bases_.push_back(channel.slot_memory[other].get());
      mark_pointers_.push_back(channel.marks[other].get());
      bell_pointers_.push_back(bells[other]);
    }
    rank_ = channel.hosts.local_rank(member);
    size_ = static_cast<int>(here.size());
    slots_ = channel.slots;
    slot_bytes_ = channel.slot_bytes;
    base_ = bases_.data();
    marks_ = mark_pointers_.data();
    bells_ = bell_pointers_.data();
  }

 private:
  std::vector<std::byte*> bases_;
  std::vector<std::atomic<std::uint64_t>*> mark_pointers_;
  std::vector<BellWord*> bell_pointers_;
};

class LoopbackMesh : public Mesh {
 public:
  LoopbackMesh(std::shared_ptr<Channel> channel, int member, const std::vector<BellWord*>& bells,
               bool with_stage)
      : Mesh(member, channel->hosts, Bell(bells[member]), nullptr), channel_(std::move(channel)) {
    for (int other = 0; other < channel_->size(); ++other) {
      const std::string name =
          "rank " + std::to_string(channel_->members[other]) + " (same process)";
      out_.emplace_back(channel_->ring(member, other), Bell(bells[other]), name);
      in_.emplace_back(channel_->ring(other, member), Bell(bells[other]), name);
    }
    if (with_stage) stage_ = std::make_unique<LoopbackStage>(*channel_, member, bells);
  }
  OutLink& Out(int member) override { return out_[member]; }
  InLink& In(int member) override { return in_[member]; }
  Stage* stage() override { return stage_.get(); }

 private:
  std::shared_ptr<Channel> channel_;  // shared with the other members' meshes and the world
  std::vector<RingOutLink> out_;
  std::vector<RingInLink> in_;
  std::unique_ptr<LoopbackStage> stage_;
};

class LoopbackCourier : public Courier {
 public:
  LoopbackCourier(int rank, std::vector<Mailbox*> boxes) : rank_(rank), boxes_(std::move(boxes)) {
    boxes_[rank_]->Reopen();
  }
  ~LoopbackCourier() override { boxes_[rank_]->Close(); }
  void Send(int to, std::vector<std::byte> message) override {
    boxes_[to]->Put({rank_, std::move(message), Status::Ok()});
  }
  std::vector<Delivery> Receive() override { return boxes_[rank_]->Take(); }
  bool HasMail() const override { return boxes_[rank_]->has_mail(); }
  void ExpectGoodbyes() override { boxes_[rank_]->ExpectGoodbyes(); }
  void Flush(double) override {}

 private:
  int rank_;
  std::vector<Mailbox*> boxes_;
};

}  // namespace

class LoopbackFabric : public Fabric {
 public:
  LoopbackFabric(World& world, int rank, std::vector<Mailbox*> boxes)
      : world_(world), rank_(rank), courier_(rank, std::move(boxes)) {}
  int rank() const override { return rank_; }
  const topology::HostMap& hosts() const override { return world_.hosts_; }
  Bell bell() const override { return Bell(world_.bells_[rank_].get()); }
  Courier& courier() override { return courier_; }
  Result<std::unique_ptr<Mesh>> MakeMesh(std::uint32_t channel, const std::vector<int>& members,
                                         const Deadline& deadline) override {
    auto shared = world_.Enter(channel, members);
    const auto me = std::find(members.begin(), members.end(), rank_) - members.begin();
    std::vector<BellWord*> bells;
    for (int member : members) bells.push_back(world_.bells_[member].get());
    shared->entered.fetch_add(1);
    for (BellWord* word : bells) Bell(word).Ring();
    Bell::Listener listener(bell());
    while (shared->entered.load() < shared->size()) {
      if (!listener.Sleep(deadline)) {
        return Status::Unknown("loopback: only " + std::to_string(shared->entered.load()) + " of " +
                               std::to_string(shared->size()) + " ranks entered channel " +
                               std::to_string(channel) + " within the time limit");
      }
    }
    return std::unique_ptr<Mesh>(std::make_unique<LoopbackMesh>(shared, static_cast<int>(me), bells,
                                                                world_.options_.stages));
  }

 private:
  World& world_;
  int rank_;
  LoopbackCourier courier_;
};

World::World(topology::HostMap hosts, WorldOptions options)
    : hosts_(std::move(hosts)), options_(options) {
  for (int rank = 0; rank < hosts_.size(); ++rank) {
    bells_.push_back(std::make_unique<BellWord>());
    mailboxes_.push_back(std::make_unique<Mailbox>(Bell(bells_.back().get())));
  }
}

World::~World() = default;

std::unique_ptr<Fabric> World::Join(int rank) {
  std::vector<Mailbox*> boxes;
  for (auto& box : mailboxes_) boxes.push_back(box.get());
  return std::make_unique<LoopbackFabric>(*this, rank, std::move(boxes));
}

void World::Kill(int rank) {
  for (int other = 0; other < hosts_.size(); ++other) {
    if (other == rank) continue;
    const bool neighbours = hosts_.leader_of(other) == rank || hosts_.leader_of(rank) == other ||
                            other == 0 || rank == 0;
    if (!neighbours) continue;
    mailboxes_[other]->Put(
        {rank, {}, Status::Unknown("rank " + std::to_string(rank) + " (same process): killed")});
  }
}

std::shared_ptr<Channel> World::Enter(std::uint32_t channel, const std::vector<int>& members) {
  MutexLock lock(mutex_);
  auto& slot = channels_[channel];
  if (slot == nullptr) {
    slot = std::make_shared<Channel>(members, hosts_, options_.ring_bytes, options_.slots,
                                     options_.slot_bytes);
  }
  return slot;
}

}  // namespace horovodx::transport::loopback

// A mesh whose members are all on one host.
#pragma once

#include <memory>
#include <utility>

#include "horovodx/transport/mesh.h"
#include "horovodx/transport/shm/channel.h"

namespace horovodx::transport::shm {

class LocalMesh : public Mesh {
 public:
  LocalMesh(std::unique_ptr<Channel> channel, int me, topology::HostMap hosts, Bell bell)
      : Mesh(me, std::move(hosts), bell, nullptr), channel_(std::move(channel)) {}
  OutLink& Out(int member) override { return channel_->Out(member); }
  InLink& In(int member) override { return channel_->In(member); }
  Stage* stage() override { return &channel_->stage(); }

 private:
  std::unique_ptr<Channel> channel_;
};

}  // namespace horovodx::transport::shm

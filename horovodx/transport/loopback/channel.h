// The memory of one loopback channel: a byte ring for every pair, and a stage for every host.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "horovodx/topology/host_map.h"
#include "horovodx/transport/byte_ring.h"
#include "horovodx/transport/stage.h"

namespace horovodx::transport::loopback {

struct Channel {
  Channel(std::vector<int> members, const topology::HostMap& world, std::size_t ring_bytes,
          int slots, std::size_t slot_bytes);

  int size() const { return static_cast<int>(members.size()); }
  // From member `from` to member `to`.
  ByteRing ring(int from, int to);

  std::vector<int> members;  // global ranks
  topology::HostMap hosts;   // of the members
  std::size_t ring_bytes;
  std::vector<std::unique_ptr<ByteRing::Counters>> counters;  // [from * size + to]
  std::vector<std::unique_ptr<std::byte[]>> rings;
  int slots;
  std::size_t slot_bytes;
  std::vector<std::unique_ptr<std::byte, void (*)(std::byte*)>> slot_memory;  // [member]
  std::vector<std::unique_ptr<std::atomic<std::uint64_t>>> marks;             // [member]
  std::atomic<int> entered{0};
};

}  // namespace horovodx::transport::loopback

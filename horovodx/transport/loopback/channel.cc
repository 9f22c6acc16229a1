#include "horovodx/transport/loopback/channel.h"

#include <cstdlib>
#include <new>
#include <utility>

namespace horovodx::transport::loopback {
namespace {

void FreeAligned(std::byte* p) { ::operator delete(p, std::align_val_t(64)); }

}  // namespace

Channel::Channel(std::vector<int> ranks, const topology::HostMap& world, std::size_t ring_size,
                 int slot_count, std::size_t slot_size)
    : members(std::move(ranks)),
      hosts(world.Subset(members)),
      ring_bytes(ring_size),
      slots(slot_count),
      slot_bytes(slot_size) {
  const int n = size();
  for (int i = 0; i < n * n; ++i) {
    counters.push_back(std::make_unique<ByteRing::Counters>());
    rings.push_back(nullptr);
    if (i / n != i % n) rings.back().reset(new std::byte[ring_bytes]);
  }
  for (int i = 0; i < n; ++i) {
    auto* memory = static_cast<std::byte*>(
        ::operator new(slot_bytes* static_cast<std::size_t>(slots), std::align_val_t(64)));
    slot_memory.emplace_back(memory, FreeAligned);
    marks.push_back(std::make_unique<std::atomic<std::uint64_t>>(0));
  }
}

ByteRing Channel::ring(int from, int to) {
  const int i = from * size() + to;
  return ByteRing(counters[i].get(), rings[i].get(), ring_bytes);
}

}  // namespace horovodx::transport::loopback

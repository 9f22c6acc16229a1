#include <thread>

#include "horovodx/rendezvous/memory_store.h"
#include "tests/horovodx/transport/link_suite.h"
#include "tests/horovodx/transport/shm/local_world.h"
#include "tests/support/forked_store.h"
#include "tests/support/process_world.h"

namespace horovodx::transport::suite {
namespace {

using Body = std::function<void(Mesh&)>;

void RunRank(rendezvous::Store& store, int rank, int ranks, const shm::ShareOptions& options,
             const Body& body, const shm::ChannelSizes& sizes = {}) {
  auto joined =
      shm::JoinLocal(store, rank, ranks, options, Deadline::After(Seconds(kPatience)), sizes);
  HVDX_ASSERT_OK(joined.status());
  body(*joined->mesh);
}

struct ShmThreads {
  static constexpr bool kHasStage = true;
  static void Run(int ranks, const Body& body) {
    rendezvous::MemoryStore store;
    shm::ChannelSizes sizes;
    sizes.ring_bytes = 9024;  // smaller than most messages, and they do not divide by it
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([&, rank] { RunRank(store, rank, ranks, {}, body, sizes); });
    }
    for (auto& thread : threads) thread.join();
  }
};

template <bool kUnnamed>
struct ShmProcesses {
  static constexpr bool kHasStage = true;
  static void Run(int ranks, const Body& body) {
    testing_support::ForkedStore store;
    shm::ShareOptions options;
    options.unnamed = kUnnamed;
    testing_support::RunProcesses(
        ranks, [&](int rank) { RunRank(store, rank, ranks, options, body); }, 2 * kPatience);
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(ShmThreads, LinkSuite, ShmThreads);
INSTANTIATE_TYPED_TEST_SUITE_P(ShmProcesses, LinkSuite, ShmProcesses<true>);
INSTANTIATE_TYPED_TEST_SUITE_P(ShmNamedProcesses, LinkSuite, ShmProcesses<false>);

}  // namespace
}  // namespace horovodx::transport::suite

#include <thread>

#include "horovodx/rendezvous/memory_store.h"
#include "tests/horovodx/transport/link_suite.h"
#include "tests/horovodx/transport/process/process_ranks.h"
#include "tests/support/forked_store.h"
#include "tests/support/process_world.h"

namespace horovodx::transport::suite {
namespace {

using Body = std::function<void(Mesh&)>;

void RunRank(rendezvous::Store& store, const process::Options& options, const Body& body) {
  auto joined = process::JoinAndMesh(options, store, Deadline::After(Seconds(kPatience)));
  HVDX_ASSERT_OK(joined.status());
  body(*joined->mesh);
}

// Neighbours in rank order are on different hosts, so most waits are for shared memory in one
// direction and a socket in the other.
std::string HostOf(int rank, int hosts) {
  const char letter = static_cast<char>('a' + rank % hosts);
  return std::string(1, letter);
}

template <int kHosts, bool kForceTcp, bool kTls = false>
struct Processes {
  static constexpr bool kHasStage = !kForceTcp;
  static void Run(int ranks, const Body& body) {
    testing_support::ForkedStore store;
    testing_support::RunProcesses(
        ranks,
        [&](int rank) {
          auto options = process::OptionsOf(rank, ranks, HostOf(rank, kHosts));
          options.force_tcp = kForceTcp;
          options.tls = kTls;
          RunRank(store, options, body);
        },
        2 * kPatience);
  }
};

struct ThreadsOnTwoHosts {
  static constexpr bool kHasStage = true;
  static void Run(int ranks, const Body& body) {
    rendezvous::MemoryStore store;
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
      threads.emplace_back(
          [&, rank] { RunRank(store, process::OptionsOf(rank, ranks, HostOf(rank, 2)), body); });
    }
    for (auto& thread : threads) thread.join();
  }
};

using OneHost = Processes<1, false>;
using TwoHosts = Processes<2, false>;
using OneHostByTcp = Processes<1, true>;
using TwoHostsByTls = Processes<2, false, true>;

INSTANTIATE_TYPED_TEST_SUITE_P(ProcessesOnOneHost, LinkSuite, OneHost);
INSTANTIATE_TYPED_TEST_SUITE_P(ProcessesOnTwoHosts, LinkSuite, TwoHosts);
INSTANTIATE_TYPED_TEST_SUITE_P(ProcessesByTcp, LinkSuite, OneHostByTcp);
INSTANTIATE_TYPED_TEST_SUITE_P(ProcessesByTls, LinkSuite, TwoHostsByTls);
INSTANTIATE_TYPED_TEST_SUITE_P(ThreadsOnTwoHosts, LinkSuite, ThreadsOnTwoHosts);

}  // namespace
}  // namespace horovodx::transport::suite

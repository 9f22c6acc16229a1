#include "tests/horovodx/transport/link_suite.h"
#include "tests/support/in_process_world.h"

namespace horovodx::transport::suite {
namespace {

struct Loopback {
  static constexpr bool kHasStage = true;
  static void Run(int ranks, const std::function<void(Mesh&)>& body) {
    testing_support::InProcessWorld(ranks).RunOnMesh(body);
  }
};
struct LoopbackWithoutStage {
  static constexpr bool kHasStage = false;
  static void Run(int ranks, const std::function<void(Mesh&)>& body) {
    loopback::WorldOptions options;
    options.stages = false;
    options.ring_bytes = 9001;  // not a power of two, and smaller than most messages
    testing_support::InProcessWorld(ranks, options).RunOnMesh(body);
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Loopback, LinkSuite, Loopback);
INSTANTIATE_TYPED_TEST_SUITE_P(LoopbackWithoutStage, LinkSuite, LoopbackWithoutStage);

}  // namespace
}  // namespace horovodx::transport::suite

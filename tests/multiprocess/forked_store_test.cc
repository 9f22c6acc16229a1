// The store over which tests kill ranks must not be harmed by that itself.
#include "tests/support/forked_store.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <string>

#include "tests/support/process_world.h"

namespace horovodx::testing_support {
namespace {

Deadline Patience() { return Deadline::After(Seconds(30)); }

TEST(ForkedStoreTest, WhoIsKilledWhileWritingHidesNothing) {
  for (int round = 0; round < 100; ++round) {
    ForkedStore store;
    ProcessWorld world(1, [&](int) {
      for (int i = 0; i < 4000; ++i) (void)store.Set("again", std::string(3000, 'x'));
      return 0;
    });
    ASSERT_TRUE(store.Get("again", Patience()).ok());
    world.Signal(0, SIGKILL);
    world.WaitAll(Patience());
    ASSERT_TRUE(store.Set("later", "value").ok());
    EXPECT_TRUE(store.Get("later", Deadline::After(Duration::zero())).ok()) << "round " << round;
  }
}

}  // namespace
}  // namespace horovodx::testing_support

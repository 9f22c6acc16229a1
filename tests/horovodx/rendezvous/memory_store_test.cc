#include "horovodx/rendezvous/memory_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace horovodx::rendezvous {
namespace {

TEST(MemoryStoreTest, GetWaitsForSet) {
  MemoryStore store;
  std::thread setter([&] { EXPECT_TRUE(store.Set("key", "value").ok()); });
  EXPECT_EQ(*store.Get("key", Deadline::After(Seconds(30))), "value");
  setter.join();
}

TEST(MemoryStoreTest, MissingKeyIsNamedAtTheDeadline) {
  MemoryStore store;
  EXPECT_THAT(store.Get("nobody's", Deadline::After(Seconds(0.01))).status().message(),
              testing::HasSubstr("'nobody's'"));
}

}  // namespace
}  // namespace horovodx::rendezvous

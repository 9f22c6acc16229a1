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

TEST(MemoryStoreTest, ForgetsWhatBeginsSo) {
  MemoryStore store;
  for (const char* key : {"a/1", "a/2", "a", "b/1"}) ASSERT_TRUE(store.Set(key, key).ok());
  ASSERT_TRUE(store.Forget("a/").ok());
  for (const char* key : {"a/1", "a/2"}) {
    EXPECT_FALSE(store.Get(key, Deadline::After(Seconds(0.001))).ok()) << key;
  }
  for (const char* key : {"a", "b/1"}) {
    EXPECT_TRUE(store.Get(key, Deadline::After(Seconds(30))).ok()) << key;
  }
}

TEST(MemoryStoreTest, MissingKeyIsNamedAtTheDeadline) {
  MemoryStore store;
  EXPECT_THAT(store.Get("nobody's", Deadline::After(Seconds(0.01))).status().message(),
              testing::HasSubstr("'nobody's'"));
}

}  // namespace
}  // namespace horovodx::rendezvous

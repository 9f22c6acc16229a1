#include "horovodx/negotiation/response_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "horovodx/base/log.h"
#include "tests/horovodx/negotiation/request_maker.h"

namespace horovodx::negotiation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string g_log;

std::uint64_t Insert(ResponseCache& cache, const std::string& name) {
  return cache.Insert(name, Shared({MakeRequest(name)}), Bucket{});
}

TEST(ResponseCacheTest, ForgetsTheLeastRecentlyUsedAndWarnsOnce) {
  SetLogSink([](LogLevel, const std::string& line) { g_log += line; });
  ResponseCache cache(2);
  const auto a = Insert(cache, "a");
  const auto b = Insert(cache, "b");
  cache.Touch(a);
  EXPECT_THAT(g_log, IsEmpty());
  Insert(cache, "c");
  EXPECT_EQ(cache.Find(b), nullptr);
  EXPECT_EQ(cache.FindName("b"), nullptr);
  ASSERT_NE(cache.Find(a), nullptr);
  EXPECT_EQ(cache.Find(a)->name, "a");
  EXPECT_THAT(cache.TakeForgotten(), ElementsAre(b));
  EXPECT_THAT(cache.TakeForgotten(), IsEmpty());
  EXPECT_THAT(g_log, HasSubstr("A response has been evicted from cache"));
  g_log.clear();
  Insert(cache, "d");
  EXPECT_THAT(g_log, IsEmpty());
  SetLogSink(nullptr);
}

TEST(ResponseCacheTest, IdsAreNeverUsedTwice) {
  ResponseCache cache(2);
  const auto first = Insert(cache, "a");
  cache.Erase("a");
  EXPECT_THAT(cache.TakeForgotten(), ElementsAre(first));
  EXPECT_GT(Insert(cache, "a"), first);
}

TEST(ResponseCacheTest, CapacityZeroKeepsNothing) {
  ResponseCache cache(0);
  EXPECT_EQ(Insert(cache, "a"), 0u);
  EXPECT_EQ(cache.FindName("a"), nullptr);
}

TEST(ResponseCacheTest, WhatDoesNotRepeatAlikeIsNotCached) {
  for (Kind kind : {Kind::kBroadcast, Kind::kBarrier, Kind::kJoin, Kind::kError}) {
    EXPECT_FALSE(ResponseCache::Cacheable(kind));
  }
}

}  // namespace
}  // namespace horovodx::negotiation

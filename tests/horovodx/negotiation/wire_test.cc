#include "horovodx/negotiation/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "horovodx/collectives/select.h"
#include "tests/horovodx/negotiation/message_maker.h"

namespace horovodx::negotiation {
namespace {

using testing::HasSubstr;

TEST(WireTest, EverythingComesBackAsItWas) {
  MessageMaker maker(1);
  for (int i = 0; i < 3000; ++i) {
    const auto up = maker.Ups();
    const auto up_again = DecodeUp(Encode(up));
    ASSERT_TRUE(up_again.ok()) << up_again.status().message();
    EXPECT_EQ(up_again.value(), up);
    const auto down = maker.Downs();
    const auto down_again = DecodeDown(Encode(down));
    ASSERT_TRUE(down_again.ok()) << down_again.status().message();
    EXPECT_EQ(down_again.value(), down);
  }
}

TEST(WireTest, WhatIsCutShortIsRefused) {
  MessageMaker maker(2);
  for (int i = 0; i < 100; ++i) {
    const auto bytes = Encode(maker.Downs());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(DecodeDown({bytes.data(), size}).ok());
    }
  }
}

TEST(WireTest, FlippedBytesAreRefusedOrEncodeToThemselves) {
  MessageMaker maker(3);
  std::mt19937 random(3);
  for (int i = 0; i < 5000; ++i) {
    auto bytes = Encode(maker.Ups());
    bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    const auto decoded = DecodeUp(bytes);
    if (decoded.ok()) {
      EXPECT_EQ(Encode(decoded.value()), bytes);
    }
  }
}

TEST(WireTest, ACountWithoutItsBytesIsRefusedBeforeItIsBelieved) {
  std::vector<UpRecord> none;
  auto bytes = Encode(none);
  for (std::size_t i = 4; i < 8; ++i) bytes[i] = std::byte{0xff};  // 2^32 - 1 records
  EXPECT_THAT(DecodeUp(bytes).status().message(), HasSubstr("a list needs"));
}

TEST(WireTest, AnAlgorithmThatIsNoneIsRefused) {
  negotiation::Run run;
  run.buckets.resize(1);
  constexpr auto kNone = static_cast<std::uint8_t>(collectives::kAllreduceAlgorithms);
  run.buckets[0].algorithms = {0, kNone - 1};
  std::vector<DownRecord> records;
  Append(records, {0}, run);
  EXPECT_TRUE(DecodeDown(Encode(records)).ok());
  std::get<negotiation::Run>(records[0].message).buckets[0].algorithms[1] = kNone;
  EXPECT_THAT(DecodeDown(Encode(records)).status().message(), HasSubstr("no such algorithm"));
}

TEST(WireTest, ASegmentThatIsNoneAndTooManyStreamsAreRefused) {
  const auto decode = [](std::uint32_t segment, int streams) {
    StartPlan plan;
    plan.buckets.resize(1);
    plan.buckets[0].segment = segment;
    plan.buckets[0].streams = static_cast<std::uint8_t>(streams);
    std::vector<DownRecord> records;
    Append(records, {0}, plan);
    return DecodeDown(Encode(records)).status();
  };
  for (const std::uint32_t segment : {0u, 64u << 10, 256u << 10, 2u << 20}) {
    EXPECT_TRUE(decode(segment, 64).ok()) << segment;
  }
  for (const std::uint32_t segment : {1u, 32u << 10, 4u << 20, (256u << 10) + 4, ~0u}) {
    EXPECT_THAT(decode(segment, 0).message(), HasSubstr("no such segment")) << segment;
  }
  EXPECT_THAT(decode(0, 65).message(), HasSubstr("too many streams"));
  EXPECT_THAT(decode(0, 255).message(), HasSubstr("too many streams"));
}

TEST(WireTest, HeadersAreChecked) {
  std::vector<UpRecord> none;
  auto bytes = Encode(none);
  EXPECT_THAT(DecodeDown(bytes).status().message(), HasSubstr("wrong direction"));
  bytes.push_back(std::byte{0});
  EXPECT_THAT(DecodeUp(bytes).status().message(), HasSubstr("1 bytes too many"));
  bytes.pop_back();
  bytes[2] = std::byte{9};
  EXPECT_THAT(DecodeUp(bytes).status().message(), HasSubstr("version 9 instead of 4"));
  bytes[0] = std::byte{0};
  EXPECT_THAT(DecodeUp(bytes).status().message(), HasSubstr("not a negotiation message"));
}

}  // namespace
}  // namespace horovodx::negotiation

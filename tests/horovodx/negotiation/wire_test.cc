#include "horovodx/negotiation/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace horovodx::negotiation {
namespace {

using testing::HasSubstr;

// Random messages of every kind.
class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}

  template <typename T>
  T Number() {
    return static_cast<T>(random_() >> (random_() % 64));
  }
  std::string Text() { return std::string(random_() % 9, static_cast<char>(random_())); }
  template <typename T>
  std::vector<T> Numbers() {
    std::vector<T> values(random_() % 4);
    for (T& value : values) value = Number<T>();
    return values;
  }
  double Real() { return static_cast<double>(Number<std::int32_t>()) / 7; }

  Request MakeRequest() {
    Request r;
    r.kind = static_cast<Kind>(random_() % 8);
    r.type = static_cast<ElementType>(random_() % kElementTypes);
    r.op = static_cast<ReduceOp>(random_() % kReduceOps);
    r.name = Text();
    r.root = Number<std::int32_t>();
    r.device = Number<std::int32_t>();
    r.shape = Numbers<std::int64_t>();
    r.prescale = Real();
    r.postscale = Real();
    r.group = Text();
    r.group_size = Number<std::uint32_t>();
    return r;
  }
  Bucket MakeBucket() {
    Bucket b;
    b.kind = static_cast<Kind>(random_() % 9);
    b.type = static_cast<ElementType>(random_() % kElementTypes);
    b.op = static_cast<ReduceOp>(random_() % kReduceOps);
    b.root = Number<std::int32_t>();
    b.device = Number<std::int32_t>();
    b.prescale = Real();
    b.postscale = Real();
    for (auto n = random_() % 3; n > 0; --n) {
      b.entries.push_back(
          {Text(), Number<std::uint64_t>(), Numbers<std::int64_t>(), Numbers<std::int64_t>()});
    }
    b.error = Status(static_cast<StatusCode>(random_() % 6), Text());
    b.last_joined = Number<std::int32_t>();
    return b;
  }
  std::vector<Bucket> Buckets() {
    std::vector<Bucket> buckets(random_() % 3);
    for (Bucket& b : buckets) b = MakeBucket();
    return buckets;
  }
  std::int32_t Set() { return Number<std::int32_t>(); }
  std::uint32_t Epoch() { return Number<std::uint32_t>(); }

  UpMessage MakeUp() {
    switch (random_() % 8) {
      case 0: {
        Ready ready{Set(), Epoch(), {}, Numbers<std::uint64_t>(), Epoch()};
        for (auto n = random_() % 3; n > 0; --n) ready.requests.push_back(MakeRequest());
        return ready;
      }
      case 1:
        return Leave{Set(), Epoch(), Number<std::uint64_t>()};
      case 2:
        return AddSet{Numbers<std::int32_t>()};
      case 3:
        return RemoveSet{Set()};
      case 4:
        return WantShutdown{};
      case 5:
        return Drained{};
      case 6:
        return Lost{Set(), Text()};
      default:
        return Stuck{Set(), Epoch(), Number<std::uint64_t>()};
    }
  }
  DownMessage MakeDown() {
    switch (random_() % 11) {
      case 0:
        return Run{Set(), Buckets(), Numbers<std::uint64_t>(), Numbers<std::uint64_t>()};
      case 1:
        return StartPlan{Set(), Epoch(), Buckets()};
      case 2:
        return EndPlan{Set(), Epoch(), Number<std::uint64_t>()};
      case 3:
        return Resend{Set(), Epoch(), Numbers<std::uint64_t>()};
      case 4:
        return SetAdded{Set(), Epoch(), Numbers<std::int32_t>()};
      case 5:
        return SetRemoved{Set()};
      case 6:
        return SetRefused{Set(), Text()};
      case 7:
        return Shutdown{Text()};
      case 8:
        return Close{};
      case 9:
        return Failed{Set(), Text()};
      default:
        return PleaseLeave{Set(), Epoch()};
    }
  }
  std::vector<UpRecord> Ups() {
    std::vector<UpRecord> records;
    for (auto n = random_() % 4; n > 0; --n) Append(records, Numbers<std::int32_t>(), MakeUp());
    return records;
  }
  std::vector<DownRecord> Downs() {
    std::vector<DownRecord> records;
    for (auto n = random_() % 4; n > 0; --n) Append(records, Numbers<std::int32_t>(), MakeDown());
    return records;
  }

 private:
  std::mt19937_64 random_;
};

TEST(WireTest, EverythingComesBackAsItWas) {
  Maker maker(1);
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
  Maker maker(2);
  for (int i = 0; i < 100; ++i) {
    const auto bytes = Encode(maker.Downs());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(DecodeDown({bytes.data(), size}).ok());
    }
  }
}

TEST(WireTest, FlippedBytesAreRefusedOrEncodeToThemselves) {
  Maker maker(3);
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

TEST(WireTest, HeadersAreChecked) {
  std::vector<UpRecord> none;
  auto bytes = Encode(none);
  EXPECT_THAT(DecodeDown(bytes).status().message(), HasSubstr("wrong direction"));
  bytes.push_back(std::byte{0});
  EXPECT_THAT(DecodeUp(bytes).status().message(), HasSubstr("1 bytes too many"));
  bytes.pop_back();
  bytes[2] = std::byte{9};
  EXPECT_THAT(DecodeUp(bytes).status().message(), HasSubstr("version 9 instead of 1"));
  bytes[0] = std::byte{0};
  EXPECT_THAT(DecodeUp(bytes).status().message(), HasSubstr("not a negotiation message"));
}

}  // namespace
}  // namespace horovodx::negotiation

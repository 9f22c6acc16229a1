#include "horovodx/transport/shm/segment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <sstream>
#include <vector>

namespace horovodx::transport::shm {
namespace {

using testing::HasSubstr;

const Shape kShape{3, 7, 8192};

std::vector<std::string> Words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}
std::string Text(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += word + " ";
  return text;
}

class SegmentTest : public testing::TestWithParam<Kind> {};

TEST_P(SegmentTest, BlocksAreTheSameMemoryForAllAndZeroAtFirst) {
  auto made = Segment::Make(GetParam(), kShape);
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  auto opened = Segment::Open(made->ticket(), kShape, 2);
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  for (int member = 0; member < 3; ++member) {
    ASSERT_NE(made->block(member), opened->block(member));
    EXPECT_EQ(made->block(member)[8191], std::byte{0});
    std::memset(made->block(member), member + 1, 8192);
    EXPECT_EQ(opened->block(member)[0], static_cast<std::byte>(member + 1));
    EXPECT_EQ(opened->block(member)[8191], static_cast<std::byte>(member + 1));
  }
}

TEST_P(SegmentTest, ItWorksOnWhenTheDoorIsClosedButNobodyElseGetsIn) {
  auto made = Segment::Make(GetParam(), kShape);
  auto opened = Segment::Open(made->ticket(), kShape, 1);
  ASSERT_TRUE(opened.ok());
  made->CloseDoor();
  EXPECT_FALSE(Segment::Open(made->ticket(), kShape, 2).ok());
  made->block(0)[5] = std::byte{42};
  EXPECT_EQ(opened->block(0)[5], std::byte{42});
}

TEST_P(SegmentTest, AnotherSegmentAtTheSamePlaceIsNoticed) {
  auto made = Segment::Make(GetParam(), kShape);
  auto words = Words(made->ticket());
  words.back().front() = words.back().front() == '1' ? '2' : '1';  // the token of another
  EXPECT_THAT(Segment::Open(Text(words), kShape, 1).status().message(),
              HasSubstr("another segment than the one made for this job"));
}

TEST_P(SegmentTest, AnotherShapeIsNoticed) {
  auto made = Segment::Make(GetParam(), kShape);
  const Shape larger{4, 7, 8192};
  EXPECT_THAT(Segment::Open(made->ticket(), larger, 1).status().message(), HasSubstr("expected"));
  const Shape same_size{6, 7, 4096};
  EXPECT_THAT(Segment::Open(made->ticket(), same_size, 1).status().message(),
              HasSubstr("segment for 3 members of 8192 bytes, expected 6 of 4096"));
  const Shape other_detail{3, 8, 8192};
  EXPECT_FALSE(Segment::Open(made->ticket(), other_detail, 1).ok());
}

INSTANTIATE_TEST_SUITE_P(Kinds, SegmentTest, testing::Values(Kind::kUnnamed, Kind::kNamed),
                         [](const auto& kind) {
                           return kind.param == Kind::kUnnamed ? "Unnamed" : "Named";
                         });

TEST(SegmentTicketTest, NonsenseFromTheStoreIsAnError) {
  for (const char* ticket : {"", "memfd", "memfd x y", "memfd 1 2 /a zz zz", "/dev/shm 1 2 /a"}) {
    EXPECT_FALSE(Segment::Open(ticket, kShape, 1).ok()) << ticket;
  }
  EXPECT_FALSE(Segment::Open("memfd -1 -1 /x 1 2", kShape, 1).ok());
  EXPECT_FALSE(Segment::Open("/dev/shm 1 2 ../../etc/passwd 1 2", kShape, 1).ok());
}

TEST(SegmentPrivateTest, OneMemberHasZeroedBlocks) {
  auto segment = Segment::MakePrivate({1, 0, 1 << 20});
  ASSERT_TRUE(segment.ok());
  EXPECT_EQ(segment->block(0)[(1 << 20) - 1], std::byte{0});
}

}  // namespace
}  // namespace horovodx::transport::shm

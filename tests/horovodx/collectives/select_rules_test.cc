#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "horovodx/collectives/select.h"

namespace horovodx::collectives {
namespace {

using testing::HasSubstr;
using A = AllreduceAlgorithm;
constexpr auto kMax = std::numeric_limits<std::size_t>::max();

TEST(SelectRulesTest, ReadsNamesRangesAndUnits) {
  auto rules = ParseAllreduceRules("recursive_doubling:0-8K; ring:1M-max ;tree:7-2G");
  ASSERT_TRUE(rules.ok()) << rules.status().ToString();
  ASSERT_EQ(rules->size(), 3u);
  EXPECT_EQ((*rules)[0].algorithm, A::kRecursiveDoubling);
  EXPECT_EQ((*rules)[0].begin, 0u);
  EXPECT_EQ((*rules)[0].end, 8u << 10);
  EXPECT_EQ((*rules)[1].algorithm, A::kRing);
  EXPECT_EQ((*rules)[1].begin, 1u << 20);
  EXPECT_EQ((*rules)[1].end, kMax);
  EXPECT_EQ((*rules)[2].end, std::size_t{2} << 30);
}

TEST(SelectRulesTest, NameAloneIsAllSizesAndNothingIsNoRule) {
  auto rules = ParseAllreduceRules("torus");
  ASSERT_TRUE(rules.ok());
  EXPECT_EQ((*rules)[0].begin, 0u);
  EXPECT_EQ((*rules)[0].end, kMax);
  for (const char* nothing : {"", " ", ";", " ; "}) {
    auto none = ParseAllreduceRules(nothing);
    ASSERT_TRUE(none.ok());
    EXPECT_TRUE(none->empty());
  }
}

TEST(SelectRulesTest, ErrorsNameTheBadPart) {
  const struct {
    const char* text;
    const char* part;
    const char* why;
  } kTable[] = {
      {"ring:0-8K;rnig:8K-max", "'rnig:8K-max'", "no algorithm 'rnig'; there are ring, "},
      {":0-1", "':0-1'", "no algorithm ''"},
      {"ring:8K", "'ring:8K'", "a range is begin-end"},
      {"ring:", "'ring:'", "a range is begin-end"},
      {"ring:0-8Q", "'ring:0-8Q'", "8Q is no size"},
      {"ring:K-8K", "'ring:K-8K'", "K is no size"},
      {"ring:0--8", "'ring:0--8'", "-8 is no size"},
      {"ring:0-", "'ring:0-'", " is no size"},
      {"ring:0-99999999999G", "'ring:0-99999999999G'", "99999999999G is no size"},
      {"ring:0-99999999999999999999", "9999", "is no size"},
      {"ring:8K-8K", "'ring:8K-8K'", "the range is empty"},
      {"ring:max-max", "'ring:max-max'", "the range is empty"},
  };
  for (const auto& [text, part, why] : kTable) {
    const auto rules = ParseAllreduceRules(text);
    ASSERT_FALSE(rules.ok()) << text;
    EXPECT_EQ(rules.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(rules.status().message(), HasSubstr(part));
    EXPECT_THAT(rules.status().message(), HasSubstr(why));
  }
}

}  // namespace
}  // namespace horovodx::collectives

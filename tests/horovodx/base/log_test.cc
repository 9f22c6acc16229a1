#include "horovodx/base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace horovodx {
namespace {

std::string g_last;
void Remember(LogLevel, const std::string& line) { g_last = line; }

TEST(LogTest, LineHasHorovodsFormat) {
  SetLogSink(Remember);
  SetLogOptions({LogLevel::kInfo, /*hide_time=*/false});
  HVDX_LOG_RANK(kInfo, 3) << "hello " << 7;
  EXPECT_THAT(g_last,
              testing::MatchesRegex("\\[....-..-.. ..:..:..\\.......: I log_test.cc:[0-9]+\\] "
                                    "\\[3\\]: hello 7\n"));
  SetLogOptions({LogLevel::kWarning, /*hide_time=*/true});
  HVDX_LOG(kWarning) << "no time";
  EXPECT_THAT(g_last, testing::MatchesRegex("\\[W log_test.cc:[0-9]+\\] no time\n"));
  g_last.clear();
  HVDX_LOG(kInfo) << "below the level";
  EXPECT_EQ(g_last, "");
  SetLogSink(nullptr);
}

}  // namespace
}  // namespace horovodx

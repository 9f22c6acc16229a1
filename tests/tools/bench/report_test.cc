#include "tools/bench/report.h"

#include <gtest/gtest.h>

namespace horovodx::bench {
namespace {

TEST(ReportTest, IsOneJsonObjectWithSettingsAndRows) {
  Report report;
  report.Setting("mode", "allreduce");
  report.Setting("ranks", 2);
  EXPECT_EQ(report.Json(), "{\"mode\": \"allreduce\", \"ranks\": 2, \"rows\": [\n]}\n");
  report.Add({{"bytes", 4}, {"seconds", 1.5e-06}});
  report.Add({{"bytes", 16}});
  EXPECT_EQ(report.Json(),
            "{\"mode\": \"allreduce\", \"ranks\": 2, \"rows\": [\n"
            "  {\"bytes\": 4, \"seconds\": 1.5e-06},\n"
            "  {\"bytes\": 16}\n]}\n");
}

TEST(ReportTest, AFileThatCannotBeWrittenIsNoticed) {
  EXPECT_FALSE(Report().Write("/no/such/folder/x.json"));
  EXPECT_FALSE(Report().Write("/dev/full"));
}

}  // namespace
}  // namespace horovodx::bench

#include "horovodx/tuning/csv.h"

#include <gtest/gtest.h>

namespace horovodx::tuning {
namespace {

TEST(CsvTest, LooksAsHorovodsDoes) {
  EXPECT_EQ(CsvHeader(),
            "hierarchical_allreduce,hierarchical_allgather,torus_allreduce,cache_enabled,"
            "cycle_time_ms,tensor_fusion_threshold,score");
  Tried tried;
  tried.setting.torus_allreduce = true;
  tried.setting.cycle_time_ms = 2.5;
  tried.setting.fusion_threshold = 16 << 20;
  tried.score = 123.25;
  tried.setting.segment = 512 << 10;
  EXPECT_EQ(CsvRow(tried, true), "0,0,1, 1,2.5,16,123.25") << "no column for it";
}

TEST(CsvTest, WordsTellTheRest) {
  Setting setting;
  EXPECT_EQ(RestInWords(setting), "schedule fusion");
  setting.segment = 512 << 10;
  setting.streams = 2;
  EXPECT_EQ(RestInWords(setting), "schedule fusion, segment 512 KiB, streams 2");
}

}  // namespace
}  // namespace horovodx::tuning

#include "horovodx/tuning/csv.h"

#include <cstdio>

namespace horovodx::tuning {

std::string CsvHeader() {
  return "hierarchical_allreduce,hierarchical_allgather,torus_allreduce,cache_enabled,"
         "cycle_time_ms,tensor_fusion_threshold,score";
}

std::string CsvRow(const Tried& tried, bool cache_enabled) {
  char text[160];
  std::snprintf(text, sizeof text, "%d,0,%d, %d,%g,%g,%g", tried.setting.hierarchical_allreduce,
                tried.setting.torus_allreduce, cache_enabled, tried.setting.cycle_time_ms,
                static_cast<double>(tried.setting.fusion_threshold) / (1 << 20), tried.score);
  return text;
}

std::string RestInWords(const Setting& setting) {
  std::string words = "schedule " + setting.schedule;
  if (setting.segment > 0) words += ", segment " + std::to_string(setting.segment >> 10) + " KiB";
  if (setting.streams > 0) words += ", streams " + std::to_string(setting.streams);
  return words;
}

}  // namespace horovodx::tuning

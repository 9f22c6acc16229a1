// The autotune log, as Horovod writes it. Pure.
#pragma once

#include <string>

#include "horovodx/tuning/search.h"

namespace horovodx::tuning {

// Without the end of the line.
std::string CsvHeader();
// Flags as 0 and 1 (hierarchical allgather is never tuned: 0; a space stands before cache_enabled),
// milliseconds, MB, score in bytes a microsecond.
std::string CsvRow(const Tried& tried, bool cache_enabled);
// What Horovod's columns have no place for: "schedule optimal, segment 512 KiB, streams 2"; what is
// left to others (0) is left out.
std::string RestInWords(const Setting& setting);

}  // namespace horovodx::tuning

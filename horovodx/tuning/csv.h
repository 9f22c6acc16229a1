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

}  // namespace horovodx::tuning

// Mode `allreduce`: blocking allreduce by size, against MPI if there is one.
#pragma once

#include "tools/bench/engine.h"
#include "tools/bench/mpi.h"
#include "tools/bench/options.h"
#include "tools/bench/report.h"

namespace horovodx::bench {

// All ranks. `mpi` may be null. Rank 0 prints and fills the report. Returns the exit code.
int RunAllreduceMode(const Options& options, Engine& engine, Mpi* mpi, Report& report);

}  // namespace horovodx::bench

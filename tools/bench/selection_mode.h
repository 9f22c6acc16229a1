// `hvdx-bench --selection`: which allreduce the engine runs at which size, and why.
#pragma once

#include "tools/bench/engine.h"
#include "tools/bench/options.h"

namespace horovodx::bench {

// Runs allreduces of all sizes so that there is something to know, then rank 0 prints the table;
// with --json it is written there too.
void RunSelectionMode(const Options& options, Engine& engine);

}  // namespace horovodx::bench

// Starting the ranks: the parent's half of hvdx-bench.
#pragma once

#include <string>
#include <vector>

#include "tools/bench/options.h"

namespace horovodx::bench {

// Runs the store through which the ranks find each other, starts them (this program again, with the
// same arguments), and waits. If one fails the others are ended. Returns the exit code.
int LaunchRanks(const Options& options, const std::vector<std::string>& arguments);

// True in a process that LaunchRanks started, also through mpirun, or that is a rank of a job in
// which `options` asks for no ranks of its own. Then HOROVOD_RANK is set.
bool BecomeRank(const Options& options);

}  // namespace horovodx::bench

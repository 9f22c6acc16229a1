// From the environment to a running engine.
#pragma once

#include <memory>
#include <vector>

#include "horovodx/base/status.h"
#include "horovodx/runtime/config.h"
#include "horovodx/runtime/engine.h"
#include "horovodx/runtime/mpi_job.h"

namespace horovodx::runtime {

// Pure: what the configuration means for the engine of one rank.
Result<EngineOptions> OptionsFrom(const Config& config, std::vector<std::vector<int>> process_sets);

// Reads the environment, finds the other ranks, starts the engine. `generation` counts the inits of
// this process: all ranks init and shut down the same number of times. `invitation` narrows a job
// whose ranks meet by MPI.
Result<std::unique_ptr<Engine>> StartFromEnvironment(int generation,
                                                     std::vector<std::vector<int>> process_sets,
                                                     const Invitation& invitation = {});

// What this process would use if MPI were wanted; an error says why it cannot.
Result<mpi::Library*> LoadMpiFromEnvironment();

}  // namespace horovodx::runtime

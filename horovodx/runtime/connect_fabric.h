// How a process finds the other ranks of its job.
#pragma once

#include <memory>

#include "horovodx/base/status.h"
#include "horovodx/runtime/config.h"
#include "horovodx/runtime/mpi_job.h"
#include "horovodx/transport/fabric.h"

namespace horovodx::runtime {

// Meets the other ranks at the job's rendezvous and connects. A world of one needs nobody. `job` is
// there if ranks have met by MPI; the fabric keeps it.
Result<std::unique_ptr<transport::Fabric>> ConnectFabric(const Config& config, int generation,
                                                         std::unique_ptr<MpiJob> job);

}  // namespace horovodx::runtime

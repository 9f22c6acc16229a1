// Launcher: what the environment says of who started this process. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace horovodx::runtime {

// A launcher of MPI programs.
struct Launcher {
  std::string rank_name;  // the variable that told the rank; empty: no such launcher
  int rank = 0;
  std::optional<int> size;        // PMIx keeps it to itself
  std::optional<int> local_size;  // processes on this host
  std::string prefix;             // where its Open MPI is installed

  bool found() const { return !rank_name.empty(); }
  // A job of one needs nobody.
  bool several() const { return found() && size.value_or(2) > 1; }
  // "OMPI_COMM_WORLD_RANK says rank 1 of 4".
  std::string ToString() const;
};

// `getenv` answers null for a variable that is not set. mpirun and mpiexec of Open MPI, launchers
// that speak PMIx or PMI (MPICH's and Intel's mpiexec, srun --mpi=...), and srun by itself.
Launcher FindLauncher(const std::function<const char*(const char*)>& getenv);

}  // namespace horovodx::runtime

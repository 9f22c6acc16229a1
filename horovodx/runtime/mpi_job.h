// MpiJob: a job whose ranks meet through MPI, with nobody to start a store for them.
//
// The first rank starts a store in its own process and sends every other one a ticket by MPI: where
// it is, and the job's secret. From there on all is as with horovodrun; what MPI knows besides, who
// shares a host and who is in which communicator, fills in the rest of the configuration.
//
// Nobody spins: whoever waits for a ticket looks every millisecond, and the configuration's time
// limit holds for all of it. MPI_Init, which waits for every process, is given ten minutes if
// nobody has set that limit. Collective calls of MPI, which have none, are made when all have come.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "horovodx/base/clock.h"
#include "horovodx/base/status.h"
#include "horovodx/mpi/library.h"
#include "horovodx/rendezvous/store_server.h"
#include "horovodx/runtime/config.h"
#include "horovodx/runtime/launcher.h"

namespace horovodx::runtime {

// Which processes the caller of init() wants in the job.
struct Invitation {
  std::vector<int> ranks;        // of MPI's world; empty: all of it
  std::vector<mpi::Comm> comms;  // the first is the job's, the others are process sets
};

// Pure: whether ranks meet through MPI.
Result<bool> MeetsByMpi(const Config& config, const Launcher& launcher,
                        const Invitation& invitation);

// How MPI is found, for a job or to say whether it is there.
mpi::LibraryOptions LibraryFor(const Config& config, const Launcher& launcher);

class MpiJob {
 public:
  // Collective over the ranks of the job. Fills in rank, size, host, store and secret of `config`,
  // and puts the sets that communicators mean before those in `process_sets`. Null: this process is
  // not invited and is on its own, which a warning says.
  static Result<std::unique_ptr<MpiJob>> Meet(Config& config, const Launcher& launcher,
                                              const Invitation& invitation,
                                              std::vector<std::vector<int>>& process_sets);
  ~MpiJob();

  mpi::Library& library() { return library_; }
  mpi::Comm comm() const { return comm_; }  // of the job's ranks, in their order; ours alone
  mpi::Threads threads() const { return threads_; }
  // Links that are not shared memory go by MPI: every rank wants that and can.
  bool links() const { return links_; }

 private:
  MpiJob(mpi::Library& library, mpi::Threads threads) : library_(library), threads_(threads) {}
  // The job's communicator as the caller has it, and the rank in it of each rank of the job.
  struct Members {
    mpi::Comm comm = nullptr;
    std::vector<int> ranks;
    int me = -1;  // place in `ranks`, or -1
  };
  Result<Members> FindMembers(const Launcher& launcher, const Invitation& invitation) const;
  Status Gather(Config& config, const Launcher& launcher, const Members& members,
                const Invitation& invitation, std::vector<std::vector<int>>& process_sets,
                const Deadline& deadline);
  Status MakeComm(const Members& members);
  Result<bool> WantsLinks(const Config& config) const;
  Result<std::string> MyWord(const Config& config, const Invitation& invitation) const;

  mpi::Library& library_;
  mpi::Threads threads_;
  mpi::Comm comm_ = nullptr;
  bool links_ = false;
  std::unique_ptr<rendezvous::StoreServer> server_;  // of the first rank
};

}  // namespace horovodx::runtime

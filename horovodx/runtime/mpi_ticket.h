// Ticket: what the first rank of a job sends the others by MPI, so that they find its store.
#pragma once

#include <string>
#include <thread>
#include <vector>

#include "horovodx/base/clock.h"
#include "horovodx/base/status.h"
#include "horovodx/mpi/library.h"

namespace horovodx::runtime {

struct Ticket {
  std::string address;
  int port = 0;
  std::string secret;  // 32 bytes
  std::string job_id;
};

// Sends it, on a thread of its own, until all have it or this ends.
class TicketOffice {
 public:
  // `ranks` of `comm`. `library` is borrowed.
  TicketOffice(mpi::Library& library, const Ticket& ticket, mpi::Comm comm,
               const std::vector<int>& ranks);
  ~TicketOffice();

 private:
  void Serve(const std::stop_token& stop);

  mpi::Library& library_;
  std::vector<std::byte>* bytes_;  // MPI may read it after the end of a send that was given up
  std::vector<mpi::Request> sends_;
  std::jthread thread_;
};

// Waits for the ticket from rank `from`.
Result<Ticket> ReceiveTicket(mpi::Library& library, mpi::Comm comm, int from,
                             const Deadline& deadline);

}  // namespace horovodx::runtime

// What a rank must know to join the processes of its job.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "horovodx/base/clock.h"
#include "horovodx/mpi/library.h"
#include "horovodx/transport/shm/layout.h"
#include "horovodx/transport/shm/share.h"

namespace horovodx::transport::process {

// Where a launcher says that this rank is; compared with where all ranks say they are.
struct Told {
  std::optional<int> local_rank;
  std::optional<int> local_size;
  std::optional<int> cross_rank;
  std::optional<int> cross_size;
};

struct Options {
  int rank = 0;
  int size = 1;
  // Ranks with the same name are on the same host: they share memory, and have local ranks.
  std::string hostname;
  // The hosts of all ranks as the launcher has placed them, for messages; empty if nobody has said.
  std::vector<std::string> placed;
  Told told;
  // Where to listen: an address of this machine, or a network interface. With neither, 127.0.0.1
  // for a job on one host, else an address that other hosts are likely to reach.
  std::string address;
  std::string interface;

  std::string secret;  // random bytes that all ranks of the job know, and nobody else
  std::string job_id;
  int generation = 0;  // which incarnation of the job: they do not hear each other

  Duration heartbeat_limit = std::chrono::seconds(10);
  Duration connect_limit = std::chrono::seconds(30);  // for links made while the job runs
  int streams = 2;                                    // sockets of a link between hosts
  int streams_in_use = 0;   // of them, until a mesh is told otherwise; 0: all
  bool force_tcp = false;   // no shared memory; if any rank says so, it holds for all
  bool tls = false;         // on every connection between ranks; the same on all of them
  std::string tls_library;  // the libssl to use; empty: what there is
  // Links that are not shared memory go over MPI, if this is there; the same on all ranks. Both are
  // borrowed and outlive the fabric.
  horovodx::mpi::Library* mpi = nullptr;
  horovodx::mpi::Comm comm = nullptr;  // of the job's ranks, in their order; for links alone
  shm::ShareOptions share;
  shm::ChannelSizes sizes;
};

}  // namespace horovodx::transport::process

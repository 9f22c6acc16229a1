// ProcessFabric: joins the processes of a job, by shared memory inside a host and TCP or MPI
// between hosts.
//
// Joining: all ranks hear where the others are (roll_call.h), the ranks of a host share their
// bells, every rank listens and connects its courier. Whether memory is shared is one answer for
// the whole job, and one for each channel, so that all ranks choose the same algorithms; where some
// host cannot, everything goes over TCP, with one warning.
//
// Thread: MakeMesh by one thread at a time. Meshes end before the fabric.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "horovodx/rendezvous/store.h"
#include "horovodx/tls/context.h"
#include "horovodx/transport/fabric.h"
#include "horovodx/transport/mpi/post.h"
#include "horovodx/transport/process/options.h"
#include "horovodx/transport/process/roll_call.h"
#include "horovodx/transport/shm/bells.h"
#include "horovodx/transport/shm/channel.h"
#include "horovodx/transport/tcp/acceptor.h"
#include "horovodx/transport/tcp/courier.h"
#include "horovodx/transport/tcp/io_loop.h"
#include "horovodx/transport/tcp/link_factory.h"

namespace horovodx::transport::process {

class ProcessFabric : public Fabric {
 public:
  // Collective over all ranks; blocks until all are connected, or the deadline: an error that names
  // the rank, host or key that is missing. `store` is borrowed and outlives the fabric. A world of
  // one needs neither store nor sockets; it gets loopback's fabric.
  static Result<std::unique_ptr<Fabric>> Join(const Options& options, rendezvous::Store& store,
                                              const Deadline& deadline);
  ~ProcessFabric() override;

  int rank() const override { return options_.rank; }
  const topology::HostMap& hosts() const override { return hosts_; }
  Bell bell() const override { return bell_; }
  transport::Courier& courier() override { return *courier_; }
  Result<std::unique_ptr<Mesh>> MakeMesh(std::uint32_t channel, const std::vector<int>& members,
                                         const Deadline& deadline) override;

  Status Explain(Status status) override;

  // Whether ranks of one host share memory in this job.
  bool shares_memory() const { return shares_memory_; }

 private:
  ProcessFabric(Options options, rendezvous::Store& store);
  Status PrepareTls();
  Status Meet(const Deadline& deadline);
  // Leaves a note of an error for those who will miss this rank; returns it.
  Status Said(Status status);
  Status ShareBells(bool wanted, std::string* why_not, const Deadline& deadline);
  Status OpenDoor();
  Status Connect(std::vector<Address> addresses, const Deadline& deadline);
  // What the members on my host share for a channel. Null: nothing, as all members know.
  Result<std::unique_ptr<shm::Channel>> ShareChannel(std::uint32_t channel,
                                                     const std::vector<int>& members,
                                                     const Deadline& deadline);
  std::vector<shm::Member> MembersOf(const std::vector<int>& ranks) const;
  Credentials credentials() const;
  void WarnOnce(const std::string& why_not);

  const Options options_;
  rendezvous::Store& store_;
  const std::string key_;  // starts all keys of this generation
  topology::HostMap hosts_;
  BellWord own_word_;                  // when there is no shared one
  std::unique_ptr<shm::Bells> bells_;  // by local rank
  Bell bell_{&own_word_};
  bool shares_memory_ = false;
  bool warned_ = false;
  std::shared_ptr<const tls::Context> tls_;  // null: the job has none
  // In the order in which each needs those before.
  std::unique_ptr<tcp::IoLoop> io_;
  std::unique_ptr<tcp::Acceptor> acceptor_;
  std::unique_ptr<tcp::Courier> courier_;
  std::unique_ptr<tcp::LinkFactory> factory_;
  std::unique_ptr<mpi::Post> post_;  // if links go over MPI
};

}  // namespace horovodx::transport::process

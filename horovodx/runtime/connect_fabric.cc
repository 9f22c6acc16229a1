#include "horovodx/runtime/connect_fabric.h"

#include <utility>

#include "horovodx/rendezvous/memory_store.h"
#include "horovodx/rendezvous/store_client.h"
#include "horovodx/transport/process/fabric.h"

namespace horovodx::runtime {
namespace {

using transport::process::ProcessFabric;

// A fabric together with what it was joined through.
class OwningFabric : public transport::Fabric {
 public:
  OwningFabric(std::unique_ptr<MpiJob> job, std::unique_ptr<rendezvous::Store> store,
               std::unique_ptr<transport::Fabric> fabric)
      : job_(std::move(job)), store_(std::move(store)), fabric_(std::move(fabric)) {}
  int rank() const override { return fabric_->rank(); }
  const topology::HostMap& hosts() const override { return fabric_->hosts(); }
  Bell bell() const override { return fabric_->bell(); }
  transport::Courier& courier() override { return fabric_->courier(); }
  Result<std::unique_ptr<transport::Mesh>> MakeMesh(std::uint32_t channel,
                                                    const std::vector<int>& members,
                                                    const Deadline& deadline) override {
    return fabric_->MakeMesh(channel, members, deadline);
  }
  Status Explain(Status status) override { return fabric_->Explain(std::move(status)); }

 private:
  std::unique_ptr<MpiJob> job_;
  std::unique_ptr<rendezvous::Store> store_;  // outlives the fabric
  std::unique_ptr<transport::Fabric> fabric_;
};

Status CheckReachable(const Config& config) {
  const std::string size = "HOROVOD_SIZE is " + std::to_string(config.size);
  if (config.rendezvous_address.empty() || config.rendezvous_port < 0) {
    return Status::InvalidArgument(
        size +
        ", but HOROVOD_GLOO_RENDEZVOUS_ADDR and HOROVOD_GLOO_RENDEZVOUS_PORT do not say where the "
        "ranks meet; horovodrun sets them");
  }
  if (config.secret.empty()) {
    return Status::InvalidArgument(size +
                                   ", but HOROVODX_SECRET (64 hexadecimal digits, the same on all "
                                   "ranks) is not set; horovodrun sets it");
  }
  return Status::Ok();
}

transport::process::Options OptionsFor(const Config& config, int generation, MpiJob* job) {
  transport::process::Options options;
  options.rank = config.rank;
  options.size = config.size;
  options.hostname = config.hostname;
  if (job == nullptr) options.placed = config.placed;  // else MPI has placed them
  options.interface = config.interface;
  options.secret = config.secret;
  options.job_id = config.job_id;
  options.generation = generation;
  options.heartbeat_limit = config.heartbeat;
  options.connect_limit = config.timeout;
  options.streams = StreamsToOpen(config);
  options.streams_in_use = config.streams;
  options.tls = config.tls;
  options.tls_library = config.tls_library;
  options.force_tcp = config.transport == "tcp" || config.transport == "mpi";
  // A job that met by MPI may be a part of what the launcher has started, and has numbers of its
  // own.
  if (job == nullptr) {
    options.told = {config.local_rank, config.local_size, config.cross_rank, config.cross_size};
  }
  if (job != nullptr && job->links()) {
    options.mpi = &job->library();
    options.comm = job->comm();
  }
  return options;
}

Result<std::unique_ptr<rendezvous::Store>> OpenStore(const Config& config,
                                                     const Deadline& deadline) {
  if (config.size == 1) {
    return std::unique_ptr<rendezvous::Store>(std::make_unique<rendezvous::MemoryStore>());
  }
  HVDX_RETURN_IF_ERROR(CheckReachable(config));
  const Address server{config.rendezvous_address,
                       static_cast<std::uint16_t>(config.rendezvous_port)};
  HVDX_ASSIGN_OR_RETURN(auto client,
                        rendezvous::StoreClient::Connect(server, {config.secret, config.job_id},
                                                         config.rank, deadline));
  return std::unique_ptr<rendezvous::Store>(std::move(client));
}

}  // namespace

Result<std::unique_ptr<transport::Fabric>> ConnectFabric(const Config& config, int generation,
                                                         std::unique_ptr<MpiJob> job) {
  const Deadline deadline = Deadline::After(config.timeout);
  HVDX_ASSIGN_OR_RETURN(auto store, OpenStore(config, deadline));
  HVDX_ASSIGN_OR_RETURN(auto fabric, ProcessFabric::Join(OptionsFor(config, generation, job.get()),
                                                         *store, deadline));
  return std::unique_ptr<transport::Fabric>(
      std::make_unique<OwningFabric>(std::move(job), std::move(store), std::move(fabric)));
}

}  // namespace horovodx::runtime

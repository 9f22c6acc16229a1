#include "horovodx/transport/process/fabric.h"

#include <algorithm>
#include <numeric>

#include "horovodx/base/log.h"
#include "horovodx/transport/process/address.h"
#include "horovodx/transport/process/mesh.h"
#include "horovodx/transport/process/solo_fabric.h"
#include "horovodx/transport/shm/share.h"

namespace horovodx::transport::process {
namespace {

constexpr char kShared[] = "shared";
constexpr char kStuck[] = "it has begun hvd.init() but not gone on with it";

std::string MissedIn(std::uint32_t channel) {
  return channel == 0 ? kStuck : "it has not come to connect the ranks of a process set";
}

Status CheckOptions(const Options& options) {
  if (options.rank < 0 || options.rank >= options.size) {
    return Status::InvalidArgument("rank " + std::to_string(options.rank) +
                                   " is not one of the job's " + std::to_string(options.size));
  }
  if (options.hostname.empty()) return Status::InvalidArgument("the host has no name");
  return Status::Ok();
}

Status CheckMembers(const std::vector<int>& members, int rank, int size) {
  const bool sorted = std::is_sorted(members.begin(), members.end()) &&
                      std::adjacent_find(members.begin(), members.end()) == members.end();
  const bool known = !members.empty() && members.front() >= 0 && members.back() < size;
  const bool mine = std::binary_search(members.begin(), members.end(), rank);
  if (sorted && known && mine) return Status::Ok();
  return Status::InvalidArgument("a channel's members are ranks in ascending order, mine (" +
                                 std::to_string(rank) + ") among them");
}

std::string FirstRefusal(const std::vector<std::string>& words) {
  for (const auto& word : words) {
    if (word != kShared) return word;
  }
  return kShared;
}

std::vector<int> AllRanks(int size) {
  std::vector<int> all(size);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

Result<std::unique_ptr<Fabric>> ProcessFabric::Join(const Options& options,
                                                    rendezvous::Store& store,
                                                    const Deadline& deadline) {
  HVDX_RETURN_IF_ERROR(CheckOptions(options));
  if (options.size == 1) {
    return std::unique_ptr<Fabric>(std::make_unique<SoloFabric>(options.hostname));
  }
  std::unique_ptr<ProcessFabric> fabric(new ProcessFabric(options, store));
  HVDX_RETURN_IF_ERROR(CheckCredentials(fabric->credentials()));
  HVDX_RETURN_IF_ERROR(fabric->PrepareTls());
  HVDX_RETURN_IF_ERROR(fabric->Said(fabric->Meet(deadline)));
  return std::unique_ptr<Fabric>(std::move(fabric));
}

ProcessFabric::ProcessFabric(Options options, rendezvous::Store& store)
    : options_(std::move(options)),
      store_(store),
      key_("job/" + options_.job_id + "/" + std::to_string(options_.generation)) {}

ProcessFabric::~ProcessFabric() = default;

Credentials ProcessFabric::credentials() const {
  // A straggler of an earlier generation knows the secret too; it must not get in.
  return {options_.secret, options_.job_id + "/" + std::to_string(options_.generation)};
}

Status ProcessFabric::PrepareTls() {
  if (!options_.tls) return Status::Ok();
  if (options_.mpi != nullptr) {
    return Status::InvalidArgument("HOROVODX_TLS=1 does not go with links over MPI");
  }
  tls::ContextOptions options;
  options.library = options_.tls_library;
  HVDX_ASSIGN_OR_RETURN(tls_, tls::Context::Make(credentials(), options));
  return Status::Ok();
}

// Whoever waits for a rank that gave up would take it for the culprit.
Status ProcessFabric::Said(Status status) {
  if (status.ok()) return status;
  const Status noted = store_.Set(NoteKey(key_, rank()), status.message());
  if (!noted.ok()) {
    HVDX_LOG_RANK(kInfo, rank()) << noted.message();
  }
  return status;
}

// Who breaks off says so before its connections end, so what ends by that comes later.
Status ProcessFabric::Explain(Status status) {
  if (status.code() != StatusCode::kUnknown) return status;
  const std::string key = key_ + "/broke off";
  const auto earlier = store_.Get(key, Deadline::After(Duration::zero()));
  if (earlier.ok()) return {status.code(), earlier.value()};
  const std::string mine = NameOf(hosts_, rank()) + " gave up: " + status.message();
  const Status noted = store_.Set(key, mine);
  if (!noted.ok()) {
    HVDX_LOG_RANK(kInfo, rank()) << noted.message();
  }
  return status;
}

Status ProcessFabric::Meet(const Deadline& deadline) {
  // The last generation may have failed here while somebody is still about to hear so in it, and
  // then comes after us; of the one before it nobody can be left, since this last one was met.
  if (rank() == 0 && options_.generation > 1) {
    const int past = options_.generation - 2;
    HVDX_RETURN_IF_ERROR(
        store_.Forget("job/" + options_.job_id + "/" + std::to_string(past) + "/"));
  }
  HVDX_ASSIGN_OR_RETURN(Places places, CallPlaces(options_, store_, key_, deadline));
  hosts_ = std::move(places.hosts);
  std::string why_not;
  HVDX_RETURN_IF_ERROR(ShareBells(!places.force_tcp, &why_not, deadline));
  HVDX_RETURN_IF_ERROR(OpenDoor());
  const Council world =
      CouncilOf(store_, key_, "doors", hosts_, AllRanks(options_.size), options_.rank, kStuck);
  HVDX_ASSIGN_OR_RETURN(Doors doors, CallDoors(world, acceptor_->address(), why_not, deadline));
  shares_memory_ = !places.force_tcp && doors.why_not_shared.empty();
  if (rank() == 0 && !doors.why_not_shared.empty()) WarnOnce(doors.why_not_shared);
  // A door that is shut may be that of a rank which left because another one died.
  return Explain(Connect(std::move(doors.addresses), deadline));
}

Status ProcessFabric::ShareBells(bool wanted, std::string* why_not, const Deadline& deadline) {
  if (!wanted) return Status::Ok();
  const auto& here = hosts_.ranks_on(hosts_.host_of(rank()));
  const std::string question = "bells/" + std::to_string(hosts_.host_of(rank()));
  const Council council = CouncilOf(store_, key_, question, hosts_, here, rank(), kStuck);
  HVDX_ASSIGN_OR_RETURN(
      shm::Shared shared,
      ShareSegment(council, shm::Bells::ShapeFor(council.size()), options_.share, deadline));
  *why_not = shared.why_not;
  if (!shared.segment.has_value()) return Status::Ok();
  bells_ = std::make_unique<shm::Bells>(std::move(*shared.segment));
  bell_ = Bell(bells_->of(council.me()));
  return Status::Ok();
}

Status ProcessFabric::OpenDoor() {
  HVDX_ASSIGN_OR_RETURN(io_, tcp::IoLoop::Start(bell_));
  tcp::AcceptorOptions door;
  HVDX_ASSIGN_OR_RETURN(door.where.host, ChooseAddress(options_, hosts_.hosts() == 1));
  door.credentials = credentials();
  door.rank = rank();
  door.tls = tls_;
  HVDX_ASSIGN_OR_RETURN(acceptor_, tcp::Acceptor::Start(*io_, door));
  return Status::Ok();
}

Status ProcessFabric::Connect(std::vector<Address> addresses, const Deadline& deadline) {
  tcp::CourierOptions courier;
  courier.rank = rank();
  courier.hosts = hosts_;
  courier.addresses = addresses;
  courier.credentials = credentials();
  courier.heartbeat_limit = options_.heartbeat_limit;
  courier.tls = tls_;
  HVDX_ASSIGN_OR_RETURN(courier_,
                        tcp::Courier::Connect(std::move(courier), *io_, *acceptor_, deadline));
  tcp::LinkOptions links;
  links.rank = rank();
  links.addresses = std::move(addresses);
  links.credentials = credentials();
  links.streams = options_.streams;
  links.connect_limit = options_.connect_limit;
  links.tls = tls_;
  factory_ = std::make_unique<tcp::LinkFactory>(std::move(links), *io_, *acceptor_);
  if (options_.mpi != nullptr) {
    post_ = std::make_unique<mpi::Post>(*options_.mpi, options_.comm, rank(), bell_);
  }
  return Status::Ok();
}

Result<std::unique_ptr<Mesh>> ProcessFabric::MakeMesh(std::uint32_t channel,
                                                      const std::vector<int>& members,
                                                      const Deadline& deadline) {
  HVDX_RETURN_IF_ERROR(CheckMembers(members, rank(), options_.size));
  auto shared = ShareChannel(channel, members, deadline);
  HVDX_RETURN_IF_ERROR(Said(shared.status()));
  std::unique_ptr<shm::Channel> local = std::move(shared).value();
  const auto me = std::find(members.begin(), members.end(), rank()) - members.begin();
  std::unique_ptr<Mesh> mesh = std::make_unique<ProcessMesh>(
      channel, members, static_cast<int>(me), hosts_, std::move(local), *factory_, post_.get());
  mesh->UseStreams(options_.streams_in_use);
  return mesh;
}

Result<std::unique_ptr<shm::Channel>> ProcessFabric::ShareChannel(std::uint32_t channel,
                                                                  const std::vector<int>& members,
                                                                  const Deadline& deadline) {
  const std::string question = "channel/" + std::to_string(channel);
  std::vector<int> here;
  for (int member : members) {
    if (hosts_.host_of(member) == hosts_.host_of(rank())) here.push_back(member);
  }
  const std::string host = std::to_string(hosts_.host_of(rank()));
  const Council local =
      CouncilOf(store_, key_, question + "/host/" + host, hosts_, here, rank(), MissedIn(channel));
  const shm::ChannelLayout layout(local.size(), options_.sizes);
  shm::Shared shared;
  if (shares_memory_) {
    HVDX_ASSIGN_OR_RETURN(shared, ShareSegment(local, layout.shape(), options_.share, deadline));
  }
  const Council all =
      CouncilOf(store_, key_, question + "/all", hosts_, members, rank(), MissedIn(channel));
  std::string verdict = shared.segment.has_value() ? kShared : shared.why_not;
  // Sharing has made those on one host agree already.
  if (!shares_memory_ || here != members) {
    HVDX_ASSIGN_OR_RETURN(verdict, all.Agree(verdict, FirstRefusal, deadline));
  }
  if (verdict != kShared) {
    if (shares_memory_ && all.me() == 0) WarnOnce(verdict);
    return std::unique_ptr<shm::Channel>();
  }
  return std::make_unique<shm::Channel>(std::move(*shared.segment), layout, local.me(),
                                        MembersOf(here));
}

std::vector<shm::Member> ProcessFabric::MembersOf(const std::vector<int>& ranks) const {
  std::vector<shm::Member> members;
  for (int one : ranks) {
    members.push_back(
        {"rank " + std::to_string(one) + " (" + options_.hostname + ", shared memory)",
         bells_->of(hosts_.local_rank(one))});
  }
  return members;
}

void ProcessFabric::WarnOnce(const std::string& why_not) {
  if (std::exchange(warned_, true)) return;
  HVDX_LOG_RANK(kWarning, rank()) << "Ranks of one host cannot share memory and talk over TCP "
                                     "instead, which is slower: "
                                  << why_not;
}

}  // namespace horovodx::transport::process

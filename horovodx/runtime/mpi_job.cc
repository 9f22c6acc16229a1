#include "horovodx/runtime/mpi_job.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <utility>

#include "horovodx/base/log.h"
#include "horovodx/base/random.h"
#include "horovodx/rendezvous/store_client.h"
#include "horovodx/runtime/mpi_ticket.h"
#include "horovodx/transport/agreement.h"
#include "horovodx/transport/process/address.h"

namespace horovodx::runtime {
namespace {

using transport::Council;

constexpr int kGroupTag = 18521;  // making a group's communicator sends messages with this

std::string Listed(const std::vector<int>& ranks) {
  std::string text;
  for (int rank : ranks) text += (text.empty() ? "" : ",") + std::to_string(rank);
  return text;
}

std::vector<int> Numbers(const std::string& text) {
  std::vector<int> numbers;
  std::istringstream in(text);
  for (std::string one; std::getline(in, one, ',');) numbers.push_back(std::stoi(one));
  return numbers;
}

std::string HexOf(const std::string& bytes) {
  std::string hex;
  for (const char c : bytes) {
    hex += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
    hex += "0123456789abcdef"[static_cast<unsigned char>(c) & 15];
  }
  return hex;
}

Result<std::string> RandomBytes(std::size_t count) {
  std::string bytes(count, '\0');
  HVDX_RETURN_IF_ERROR(FillRandom(MutableBytesOf(bytes.data(), bytes.size())));
  return bytes;
}

// Processes of MPI may start minutes apart; who has set a time limit means it.
Duration PatienceWithMpi(const Config& config) {
  constexpr Duration kUsual = std::chrono::minutes(10);
  const bool given = config.given.count("HOROVOD_GLOO_TIMEOUT_SECONDS") > 0;
  return given ? config.timeout : std::max(kUsual, config.timeout);
}

// Starts the store where the other ranks reach it.
Result<std::unique_ptr<rendezvous::StoreServer>> StartStore(const Config& config, bool one_host,
                                                            Ticket& ticket) {
  transport::process::Options where;
  where.hostname = config.hostname;
  where.interface = config.interface;
  HVDX_ASSIGN_OR_RETURN(const std::string address,
                        transport::process::ChooseAddress(where, one_host));
  HVDX_ASSIGN_OR_RETURN(ticket.secret, RandomBytes(32));
  HVDX_ASSIGN_OR_RETURN(const std::string id, RandomBytes(8));
  ticket.job_id = "mpi-" + HexOf(id);
  HVDX_ASSIGN_OR_RETURN(auto server,
                        rendezvous::StoreServer::Start(address, 0, ticket.secret, ticket.job_id));
  ticket.address = server->address().host;
  ticket.port = server->port();
  return server;
}

// What a rank says of itself: "<first rank on its host> <links> <host>|<ranks of a set>|...".
struct Word {
  int first_on_host = 0;
  bool links = false;  // by MPI
  std::string host;
  std::vector<std::vector<int>> sets;
};

Word ParseWord(const std::string& text) {
  Word word;
  std::istringstream parts(text);
  std::string part;
  std::getline(parts, part, '|');
  std::istringstream first(part);
  first >> word.first_on_host >> word.links;
  std::getline(first >> std::ws, word.host);
  while (std::getline(parts, part, '|')) word.sets.push_back(Numbers(part));
  return word;
}

std::vector<Word> ParseWords(const std::string& text) {
  std::vector<Word> words;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) words.push_back(ParseWord(line));
  return words;
}

std::string JoinLines(const std::vector<std::string>& words) {
  std::string all;
  for (const auto& word : words) all += word + '\n';
  return all;
}

// Two hosts may have one name (containers): the first rank on each tells them apart.
std::string HostOf(const std::vector<Word>& words, int rank) {
  const Word& mine = words[static_cast<std::size_t>(rank)];
  const bool ambiguous = std::any_of(words.begin(), words.end(), [&](const Word& other) {
    return other.host == mine.host && other.first_on_host != mine.first_on_host;
  });
  return ambiguous ? mine.host + "-" + std::to_string(mine.first_on_host) : mine.host;
}

// Every group that some rank's communicator means, in order of communicators and then of ranks.
std::vector<std::vector<int>> SetsOf(const std::vector<Word>& words) {
  std::vector<std::vector<int>> sets;
  std::set<std::vector<int>> seen;
  std::size_t most = 0;
  for (const Word& word : words) most = std::max(most, word.sets.size());
  for (std::size_t i = 0; i < most; ++i) {
    for (const Word& word : words) {
      if (i >= word.sets.size() || word.sets[i].empty()) continue;
      if (seen.insert(word.sets[i]).second) sets.push_back(word.sets[i]);
    }
  }
  return sets;
}

}  // namespace

mpi::LibraryOptions LibraryFor(const Config& config, const Launcher& launcher) {
  mpi::LibraryOptions options;
  options.given = config.mpi_library;
  options.prefix = launcher.prefix;
  return options;
}

Result<bool> MeetsByMpi(const Config& config, const Launcher& launcher,
                        const Invitation& invitation) {
  if (config.tls && (config.cpu_operations == "mpi" || config.transport == "mpi")) {
    return Status::InvalidArgument(
        std::string(config.transport == "mpi" ? "HOROVODX_TRANSPORT" : "HOROVOD_CPU_OPERATIONS") +
        " is 'mpi', but HOROVODX_TLS=1 asks for encryption, which links by MPI do not have; leave "
        "one of the two out");
  }
  if (!invitation.comms.empty()) {
    if (config.controller != "gloo") return true;
    return Status::InvalidArgument(
        "init() was given an MPI communicator, but HOROVOD_CONTROLLER is 'gloo', as horovodrun "
        "sets "
        "it without --mpi; start the job with mpirun or horovodrun --mpi");
  }
  const bool told = config.given.count("HOROVOD_RANK") != 0 || !config.rendezvous_address.empty();
  const bool by_mpi =
      config.controller == "mpi" || (config.controller.empty() && !told && launcher.found());
  if (!by_mpi && (config.cpu_operations == "mpi" || config.transport == "mpi")) {
    return Status::InvalidArgument(
        std::string(config.transport == "mpi" ? "HOROVODX_TRANSPORT" : "HOROVOD_CPU_OPERATIONS") +
        " is 'mpi', but this process was not started by MPI; use mpirun or "
        "horovodrun --mpi, or leave the variable out");
  }
  return by_mpi;
}

Result<std::unique_ptr<MpiJob>> MpiJob::Meet(Config& config, const Launcher& launcher,
                                             const Invitation& invitation,
                                             std::vector<std::vector<int>>& process_sets) {
  auto loaded = mpi::Library::Load(LibraryFor(config, launcher));
  if (!loaded.ok()) {
    const std::string asked = config.controller == "mpi" ? "HOROVOD_CONTROLLER is 'mpi'"
                              : launcher.found()         ? launcher.ToString()
                                                         : "init() was given a communicator";
    return Status::InvalidArgument(asked + ", but " + loaded.status().message() +
                                   ". Install Open MPI, or use horovodrun, which needs no MPI");
  }
  mpi::Library& library = *loaded.value();
  HVDX_ASSIGN_OR_RETURN(
      const mpi::Threads threads,
      library.Start(config.mpi_threads ? mpi::Threads::kMultiple : mpi::Threads::kSerialized,
                    Deadline::After(PatienceWithMpi(config))));
  std::unique_ptr<MpiJob> job(new MpiJob(library, threads));
  HVDX_ASSIGN_OR_RETURN(const Members members, job->FindMembers(launcher, invitation));
  if (members.me < 0) {
    HVDX_LOG(kWarning) << "This process is not among the ranks given to init(comm=[...]), "
                       << Listed(invitation.ranks) << ": it is on its own.";
    config.rank = 0;
    config.size = 1;
    return std::unique_ptr<MpiJob>();
  }
  HVDX_RETURN_IF_ERROR(job->Gather(config, launcher, members, invitation, process_sets,
                                   Deadline::After(config.timeout)));
  library.LeaveUnfinished(false);
  return job;
}

// The communicator stays, for as long as the process: MPI gives the number of a freed one to the
// next, and blocks of this life that nobody took would then be taken for those of the next.
MpiJob::~MpiJob() = default;

Result<MpiJob::Members> MpiJob::FindMembers(const Launcher& launcher,
                                            const Invitation& invitation) const {
  const auto& call = library_.call();
  Members members;
  members.comm = invitation.comms.empty() ? call.world() : invitation.comms.front();
  if (call.is_null(members.comm)) {
    return Status::InvalidArgument("init(): the communicator is MPI_COMM_NULL");
  }
  int rank = 0;
  int size = 0;
  HVDX_RETURN_IF_ERROR(library_.Check(call.rank(members.comm, &rank), "MPI_Comm_rank"));
  HVDX_RETURN_IF_ERROR(library_.Check(call.size(members.comm, &size), "MPI_Comm_size"));
  if (members.comm == call.world() && launcher.size && *launcher.size != size) {
    return Status::InvalidArgument(
        launcher.ToString() + ", but " + library_.text() + " sees " + std::to_string(size) +
        ": the launcher belongs to another MPI. Use the mpirun of this library, set "
        "HOROVODX_MPI_LIBRARY to the launcher's, or (srun) ask for --mpi=pmix");
  }
  members.ranks = invitation.ranks;
  if (members.ranks.empty()) {
    members.ranks.resize(static_cast<std::size_t>(size));
    std::iota(members.ranks.begin(), members.ranks.end(), 0);
  }
  for (std::size_t i = 0; i < members.ranks.size(); ++i) {
    const int one = members.ranks[i];
    if (one < 0 || one >= size ||
        std::count(members.ranks.begin(), members.ranks.end(), one) != 1) {
      return Status::InvalidArgument("init(comm=[" + Listed(members.ranks) + "]): expected ranks " +
                                     "from 0 to " + std::to_string(size - 1) + ", each once");
    }
    if (one == rank) members.me = static_cast<int>(i);
  }
  return members;
}

Status MpiJob::Gather(Config& config, const Launcher& launcher, const Members& members,
                      const Invitation& invitation, std::vector<std::vector<int>>& process_sets,
                      const Deadline& deadline) {
  config.rank = members.me;
  config.size = static_cast<int>(members.ranks.size());
  if (config.given.count("HOROVOD_HOSTNAME") == 0) {
    std::array<char, 256> name{};
    HVDX_RETURN_IF_ERROR(library_.Check(library_.call().host_name(name.data(), name.size()),
                                        "MPI_Get_processor_name"));
    config.hostname = name.data();
  }
  if (config.size == 1) return MakeComm(members);

  Ticket ticket;
  std::unique_ptr<TicketOffice> office;
  if (config.rank == 0) {
    const bool one_host = launcher.local_size && launcher.local_size == launcher.size;
    HVDX_ASSIGN_OR_RETURN(server_, StartStore(config, one_host, ticket));
    office = std::make_unique<TicketOffice>(
        library_, ticket, members.comm,
        std::vector<int>(members.ranks.begin() + 1, members.ranks.end()));
  } else {
    HVDX_ASSIGN_OR_RETURN(ticket,
                          ReceiveTicket(library_, members.comm, members.ranks.front(), deadline));
  }
  config.rendezvous_address = ticket.address;
  config.rendezvous_port = ticket.port;
  config.secret = ticket.secret;
  config.job_id = ticket.job_id;
  HVDX_ASSIGN_OR_RETURN(auto store, rendezvous::StoreClient::Connect(
                                        {ticket.address, static_cast<std::uint16_t>(ticket.port)},
                                        {ticket.secret, ticket.job_id}, config.rank, deadline));
  std::vector<std::string> names;
  for (int rank = 0; rank < config.size; ++rank) names.push_back("rank " + std::to_string(rank));
  const Council council(*store, "mpi", std::move(names), config.rank,
                        "it has not called hvd.init()");
  HVDX_RETURN_IF_ERROR(council.About("here").Agree("", JoinLines, deadline).status());
  office = nullptr;
  HVDX_RETURN_IF_ERROR(MakeComm(members));
  HVDX_ASSIGN_OR_RETURN(links_, WantsLinks(config));
  HVDX_ASSIGN_OR_RETURN(const std::string mine, MyWord(config, invitation));
  HVDX_ASSIGN_OR_RETURN(const std::string all,
                        council.About("who").Agree(mine, JoinLines, deadline));
  const std::vector<Word> words = ParseWords(all);
  links_ = std::all_of(words.begin(), words.end(), [](const Word& word) { return word.links; });
  if (config.given.count("HOROVOD_HOSTNAME") == 0) config.hostname = HostOf(words, config.rank);
  const auto sets = SetsOf(words);
  process_sets.insert(process_sets.begin(), sets.begin(), sets.end());
  return Status::Ok();
}

Result<bool> MpiJob::WantsLinks(const Config& config) const {
  const bool asked = config.cpu_operations == "mpi" || config.transport == "mpi";
  const bool refused = !config.cpu_operations.empty() && config.cpu_operations != "mpi";
  if (config.transport == "mpi" && refused) {
    return Status::InvalidArgument("HOROVODX_TRANSPORT is 'mpi', but HOROVOD_CPU_OPERATIONS is '" +
                                   config.cpu_operations + "'");
  }
  if (refused || config.tls || config.transport == "tcp") return false;
  if (threads_ == mpi::Threads::kMultiple) return true;
  if (asked) {
    return Status::InvalidArgument(
        "links by MPI were asked for, but MPI was started without MPI_THREAD_MULTIPLE, which they "
        "need: leave out HOROVOD_MPI_THREADS_DISABLE, or start MPI with it");
  }
  return false;
}

Status MpiJob::MakeComm(const Members& members) {
  int size = 0;
  HVDX_RETURN_IF_ERROR(library_.Check(library_.call().size(members.comm, &size), "MPI_Comm_size"));
  const int count = static_cast<int>(members.ranks.size());
  const bool all = count == size && std::is_sorted(members.ranks.begin(), members.ranks.end());
  if (all) {
    return library_.Check(library_.call().duplicate(members.comm, &comm_), "MPI_Comm_dup");
  }
  return library_.Check(
      library_.call().among(members.comm, members.ranks.data(), count, kGroupTag, &comm_),
      "MPI_Comm_create_group");
}

Result<std::string> MpiJob::MyWord(const Config& config, const Invitation& invitation) const {
  const auto& call = library_.call();
  int first = 0;
  HVDX_RETURN_IF_ERROR(library_.Check(call.first_on_host(comm_, &first), "MPI_Comm_split_type"));
  std::string word = std::to_string(first) + (links_ ? " 1 " : " 0 ") + config.hostname;
  for (std::size_t i = 1; i < invitation.comms.size(); ++i) {
    const mpi::Comm set = invitation.comms[i];
    std::vector<int> ranks;
    if (!call.is_null(set)) {
      HVDX_ASSIGN_OR_RETURN(ranks, library_.RanksIn(set, comm_));
    }
    word += "|" + Listed(ranks);
  }
  return word;
}

}  // namespace horovodx::runtime

#include "tools/bench/launch.h"

#include <spawn.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "horovodx/api/c_api.h"
#include "tools/bench/mpi.h"

namespace horovodx::bench {
namespace {

constexpr const char* kRankMark = "HVDX_BENCH_IS_RANK";

std::string NewSecret() {
  std::array<unsigned char, 32> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return "";
  std::string hex;
  for (const unsigned char byte : bytes) {
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  return hex;
}

// Puts what all ranks need to know into the environment that they inherit. False if the store
// cannot be started.
bool StartStore(int ranks) {
  const std::string secret = NewSecret();
  const std::string job = "bench-" + std::to_string(::getpid());
  const int port = hvdx_rendezvous_start("127.0.0.1", 0, secret.c_str(), job.c_str());
  if (port <= 0) {
    std::fprintf(stderr, "hvdx-bench: cannot start the store: %s\n", hvdx_last_error());
    return false;
  }
  ::setenv("HOROVODX_SECRET", secret.c_str(), 1);
  ::setenv("HOROVODX_JOB_ID", job.c_str(), 1);
  ::setenv("HOROVOD_GLOO_RENDEZVOUS_ADDR", "127.0.0.1", 1);
  ::setenv("HOROVOD_GLOO_RENDEZVOUS_PORT", std::to_string(port).c_str(), 1);
  ::setenv("HOROVOD_SIZE", std::to_string(ranks).c_str(), 1);
  ::setenv(kRankMark, "1", 1);
  // The topology is ours to say, not that of a job this runs inside.
  for (const char* name : {"HOROVOD_LOCAL_RANK", "HOROVOD_LOCAL_SIZE", "HOROVOD_CROSS_RANK",
                           "HOROVOD_CROSS_SIZE", "HOROVOD_HOSTNAME"}) {
    ::unsetenv(name);
  }
  return true;
}

pid_t Spawn(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  for (const auto& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, argv[0], nullptr, nullptr, argv.data(), environ);
  if (error != 0) std::fprintf(stderr, "hvdx-bench: cannot start %s: error %d\n", argv[0], error);
  return error == 0 ? pid : -1;
}

std::vector<std::string> MpiCommand(const Options& options) {
  std::vector<std::string> command = {"mpirun", "--allow-run-as-root", "--oversubscribe", "-np",
                                      std::to_string(options.ranks)};
  if (options.ranks > static_cast<int>(std::thread::hardware_concurrency())) {
    command.insert(command.end(), {"--mca", "mpi_yield_when_idle", "1"});
  }
  return command;
}

std::vector<pid_t> SpawnAll(const Options& options, const std::vector<std::string>& arguments) {
  char self[4096];
  const ssize_t length = ::readlink("/proc/self/exe", self, sizeof(self));
  const std::string program(self, length < 0 ? 0 : static_cast<std::size_t>(length));
  std::vector<std::string> command = options.mpi ? MpiCommand(options) : std::vector<std::string>{};
  command.push_back(program);
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::vector<pid_t> pids;
  for (int rank = 0; rank < (options.mpi ? 1 : options.ranks); ++rank) {
    if (!options.mpi) ::setenv("HOROVOD_RANK", std::to_string(rank).c_str(), 1);
    pids.push_back(Spawn(command));
  }
  return pids;
}

int ExitCode(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void KillAll(const std::vector<pid_t>& pids) {
  for (const pid_t pid : pids) {
    if (pid > 0) ::kill(pid, SIGKILL);
  }
}

// Waits for all; the first failure gives the others ten seconds to notice by themselves.
int WaitForAll(std::vector<pid_t> pids) {
  int code = 0;
  auto kill_at = std::chrono::steady_clock::time_point::max();
  while (std::any_of(pids.begin(), pids.end(), [](pid_t pid) { return pid > 0; })) {
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, code == 0 ? 0 : WNOHANG);
    if (ended > 0) {
      std::replace(pids.begin(), pids.end(), ended, pid_t{0});
      if (ExitCode(status) == 0 || code != 0) continue;
      code = ExitCode(status);
      if (WIFSIGNALED(status)) {
        std::fprintf(stderr, "hvdx-bench: a rank was ended by signal %d\n", WTERMSIG(status));
      }
      kill_at = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      continue;
    }
    if (std::chrono::steady_clock::now() > kill_at) KillAll(pids);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return code;
}

}  // namespace

int LaunchRanks(const Options& options, const std::vector<std::string>& arguments) {
  if (!StartStore(options.ranks)) return 2;
  const auto pids = SpawnAll(options, arguments);
  int code = 2;
  if (std::find(pids.begin(), pids.end(), -1) == pids.end()) {
    code = WaitForAll(pids);
  } else {
    KillAll(pids);
  }
  hvdx_rendezvous_stop();
  return code;
}

bool BecomeRank(const Options& options) {
  if (std::getenv(kRankMark) == nullptr) {
    return options.ranks == 0 && std::getenv("HOROVOD_RANK") != nullptr &&
           std::getenv("HOROVOD_GLOO_RENDEZVOUS_PORT") != nullptr;
  }
  // It ends with its parent.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (const char* rank = std::getenv("OMPI_COMM_WORLD_RANK"); rank != nullptr) {
    ::setenv("HOROVOD_RANK", rank, 1);
  }
  return true;
}

}  // namespace horovodx::bench

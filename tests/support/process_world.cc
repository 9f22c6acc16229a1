#include "tests/support/process_world.h"

#include <dirent.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string_view>

#include "horovodx/base/check.h"

namespace horovodx::testing_support {
namespace {

[[noreturn]] void RunChild(pid_t parent, int rank, const std::function<int(int)>& body) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // it ended before the line above
  int code = body(rank);
  if (code == 0 && testing::Test::HasFailure()) code = 1;
  std::fflush(nullptr);
  ::_exit(code);  // the test's own end (its report, its statics) belongs to the parent
}

// False at the deadline.
bool Ended(int pidfd, const Deadline& deadline) {
  pollfd wait{pidfd, POLLIN, 0};
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline.Left()).count();
    const int ready = ::poll(&wait, 1, static_cast<int>(left));
    if (ready > 0) return true;
    if (ready == 0 && deadline.Passed()) return false;
  }
}

}  // namespace

std::string Ending::ToString() const {
  if (late) return "killed at the deadline";
  if (signal != 0) return "killed by signal " + std::to_string(signal);
  return "exit code " + std::to_string(code);
}

ProcessWorld::ProcessWorld(int ranks, const std::function<int(int rank)>& body) {
  const pid_t parent = ::getpid();
  std::fflush(nullptr);  // or the children print it again
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t pid = ::fork();
    HVDX_CHECK(pid >= 0);
    if (pid == 0) RunChild(parent, rank, body);
    Rank started;
    started.pid = pid;
    started.pidfd = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    HVDX_CHECK(started.pidfd.valid());
    ranks_.push_back(std::move(started));
  }
}

ProcessWorld::~ProcessWorld() {
  SignalAll(SIGKILL);
  WaitAll(Deadline::Never());
}

void ProcessWorld::Signal(int rank, int signal) {
  // Not yet reaped, so the pid is still its own.
  if (!ranks_[rank].ended) ::kill(ranks_[rank].pid, signal);
}

void ProcessWorld::SignalAll(int signal) {
  for (int rank = 0; rank < size(); ++rank) Signal(rank, signal);
}

Ending ProcessWorld::Wait(int rank, const Deadline& deadline) {
  Rank& one = ranks_[rank];
  if (one.ended) return one.ending;
  if (!Ended(one.pidfd.get(), deadline)) {
    one.ending.late = true;
    Signal(rank, SIGKILL);
  }
  int status = 0;
  pid_t reaped = 0;
  do {
    reaped = ::waitpid(one.pid, &status, 0);
  } while (reaped < 0 && errno == EINTR);
  HVDX_CHECK(reaped == one.pid);
  one.ended = true;
  if (WIFEXITED(status)) one.ending.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) one.ending.signal = WTERMSIG(status);
  return one.ending;
}

std::vector<Ending> ProcessWorld::WaitAll(const Deadline& deadline) {
  std::vector<Ending> endings;
  for (int rank = 0; rank < size(); ++rank) endings.push_back(Wait(rank, deadline));
  return endings;
}

std::vector<std::string> ProcessWorld::LeftInDevShm() const {
  std::vector<std::string> left;
  DIR* directory = ::opendir("/dev/shm");
  if (directory == nullptr) return left;
  while (const dirent* entry = ::readdir(directory)) {
    for (const Rank& rank : ranks_) {
      const std::string ours = "hvdx-" + std::to_string(rank.pid) + "-";
      if (std::string_view(entry->d_name).starts_with(ours)) left.emplace_back(entry->d_name);
    }
  }
  ::closedir(directory);
  return left;
}

void RunProcesses(int ranks, const std::function<void(int rank)>& body, double seconds) {
  ProcessWorld world(ranks, [&](int rank) {
    body(rank);
    return 0;
  });
  const Deadline deadline = Deadline::After(Seconds(seconds));
  for (int rank = 0; rank < ranks; ++rank) {
    const Ending ending = world.Wait(rank, deadline);
    EXPECT_TRUE(ending.ok()) << "rank " << rank << " of " << ranks << ": " << ending.ToString();
  }
}

}  // namespace horovodx::testing_support

// ProcessWorld: N ranks as forked processes, watched by the test that made them.
//
// Fork from a test that has no other threads. A rank is killed when the test's process ends, when
// its time is up, or on request; none is left behind.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "horovodx/base/clock.h"
#include "horovodx/base/fd.h"

namespace horovodx::testing_support {

// How a rank ended.
struct Ending {
  int code = -1;      // exit code; -1 if it did not exit by itself
  int signal = 0;     // what killed it, or 0
  bool late = false;  // it was still running at the deadline and was killed
  bool ok() const { return code == 0; }
  std::string ToString() const;  // "exit code 1", "killed by signal 9", "killed at the deadline"
};

class ProcessWorld {
 public:
  // Starts the ranks at once. A rank's exit code is what `body` returns; 1 if it failed an
  // expectation of GoogleTest, which it prints itself.
  ProcessWorld(int ranks, const std::function<int(int rank)>& body);
  ~ProcessWorld();  // kills and reaps whoever is left
  ProcessWorld(const ProcessWorld&) = delete;
  ProcessWorld& operator=(const ProcessWorld&) = delete;

  int size() const { return static_cast<int>(ranks_.size()); }
  pid_t pid(int rank) const { return ranks_[rank].pid; }
  void Signal(int rank, int signal);
  void SignalAll(int signal);
  // Waits for one rank. At the deadline it is killed.
  Ending Wait(int rank, const Deadline& deadline);
  std::vector<Ending> WaitAll(const Deadline& deadline);
  // The names in /dev/shm that these ranks have made and not removed.
  std::vector<std::string> LeftInDevShm() const;

 private:
  struct Rank {
    pid_t pid = -1;
    Fd pidfd;
    bool ended = false;
    Ending ending;
  };
  std::vector<Rank> ranks_;
};

// Runs `body` once in each of `ranks` processes and expects all to succeed within `seconds`.
void RunProcesses(int ranks, const std::function<void(int rank)>& body, double seconds = 60);

}  // namespace horovodx::testing_support

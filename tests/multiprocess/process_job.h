// A job whose ranks are forked processes with an engine each, for tests that kill some of them.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "horovodx/runtime/engine.h"
#include "tests/support/forked_store.h"
#include "tests/support/process_world.h"

namespace horovodx::testing_support {

struct JobOptions {
  int ranks = 3;
  bool tcp = false;  // also between ranks of one host
  bool tls = false;
  Duration heartbeat = Seconds(1);
  Duration join_limit = Seconds(30);
  runtime::EngineOptions engine;
};

// What parent and ranks see of each other: lies in memory that all share.
struct Scoreboard {
  std::atomic<int> ready{0};                   // ranks that have come as far as the test wants
  std::atomic<bool> go{false};                 // the parent has done its deed
  std::atomic<TimePoint> struck{TimePoint()};  // when it began to; one clock serves all processes
};

class ProcessJob {
 public:
  explicit ProcessJob(JobOptions options);
  ~ProcessJob();

  Scoreboard& board() { return *board_; }
  // Forks the ranks; `body` runs in each.
  void Fork(const std::function<void(int rank)>& body);
  ProcessWorld& ranks() { return *ranks_; }
  // In a rank: joins the others and starts an engine.
  Result<std::unique_ptr<runtime::Engine>> StartEngine(int rank);
  // Anywhere: waits until so many ranks are ready.
  bool AwaitReady(int ranks, double seconds = 30);
  // Waits until a rank that is joining has said this: "doors/word/1".
  bool AwaitKey(const std::string& key, double seconds = 30);

 private:
  JobOptions options_;
  ForkedStore store_;
  Scoreboard* board_;
  std::unique_ptr<ProcessWorld> ranks_;
};

}  // namespace horovodx::testing_support

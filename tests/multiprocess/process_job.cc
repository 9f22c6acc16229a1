#include "tests/multiprocess/process_job.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <new>
#include <thread>
#include <utility>

#include "horovodx/transport/process/fabric.h"

namespace horovodx::testing_support {
namespace {

constexpr char kJobId[] = "process job";

}  // namespace

ProcessJob::ProcessJob(JobOptions options) : options_(std::move(options)) {
  void* shared = ::mmap(nullptr, sizeof(Scoreboard), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  board_ = new (shared) Scoreboard;
}

ProcessJob::~ProcessJob() {
  ranks_.reset();
  ::munmap(board_, sizeof(Scoreboard));
}

void ProcessJob::Fork(const std::function<void(int rank)>& body) {
  ranks_ = std::make_unique<ProcessWorld>(options_.ranks, [&](int rank) {
    body(rank);
    return 0;
  });
}

Result<std::unique_ptr<runtime::Engine>> ProcessJob::StartEngine(int rank) {
  transport::process::Options to;
  to.rank = rank;
  to.size = options_.ranks;
  to.hostname = "here";
  to.secret = std::string(32, 's');
  to.job_id = kJobId;
  to.heartbeat_limit = options_.heartbeat;
  to.force_tcp = options_.tcp;
  to.tls = options_.tls;
  HVDX_ASSIGN_OR_RETURN(auto fabric, transport::process::ProcessFabric::Join(
                                         to, store_, Deadline::After(options_.join_limit)));
  return runtime::Engine::Start(std::move(fabric), options_.engine);
}

bool ProcessJob::AwaitReady(int ranks, double seconds) {
  const auto deadline = Deadline::After(Seconds(seconds));
  while (board_->ready < ranks && !deadline.Passed()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return board_->ready >= ranks;
}

bool ProcessJob::AwaitKey(const std::string& key, double seconds) {
  std::string whole = "job/";
  whole.append(kJobId).append("/0/").append(key);
  return store_.Get(whole, Deadline::After(Seconds(seconds))).ok();
}

}  // namespace horovodx::testing_support

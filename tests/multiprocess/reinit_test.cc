// A job that starts, works and shuts down again and again in the same processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "horovodx/api/c_api.h"
#include "tests/support/process_world.h"

namespace horovodx {
namespace {

constexpr int kRanks = 3;
constexpr int kLives = 5;

struct Board {
  std::atomic<int> port{0};
  std::atomic<int> finished{0};
};

void SetEnvironment(int rank, int port, bool tcp) {
  ::setenv("HOROVOD_RANK", std::to_string(rank).c_str(), 1);
  ::setenv("HOROVOD_SIZE", std::to_string(kRanks).c_str(), 1);
  ::setenv("HOROVOD_GLOO_RENDEZVOUS_ADDR", "127.0.0.1", 1);
  ::setenv("HOROVOD_GLOO_RENDEZVOUS_PORT", std::to_string(port).c_str(), 1);
  ::setenv("HOROVODX_SECRET", std::string(64, 'c').c_str(), 1);
  ::setenv("HOROVODX_JOB_ID", "again and again", 1);
  ::setenv("HOROVODX_TRANSPORT", tcp ? "tcp" : "auto", 1);
}

void OneLife(int life) {
  ASSERT_TRUE(horovod_init(nullptr, 0, nullptr, nullptr, 0)) << hvdx_last_error();
  for (int step = 0; step < 20; ++step) {
    std::vector<float> x(1000, static_cast<float>(horovod_rank() + life + step));
    const int64_t shape = 1000;
    hvdx_submission s{};
    s.struct_size = sizeof(s);
    s.type = HVDX_FLOAT32;
    s.op = HVDX_SUM;
    s.device = -1;
    s.ndim = 1;
    s.shape = &shape;
    s.name = "x";
    s.input = s.output = x.data();
    ASSERT_EQ(hvdx_run(&s), HVDX_OK) << hvdx_last_error();
    ASSERT_THAT(x, testing::Each(static_cast<float>(3 + kRanks * (life + step))));
  }
  hvdx_submission barrier{};
  barrier.struct_size = sizeof(barrier);
  barrier.kind = HVDX_BARRIER;
  barrier.device = -1;
  ASSERT_EQ(hvdx_run(&barrier), HVDX_OK) << hvdx_last_error();
  horovod_shutdown();
}

void RunJob(bool tcp) {
  void* shared =
      ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* board = new (shared) Board;
  testing_support::RunProcesses(kRanks, [&](int rank) {
    if (rank == 0) {
      board->port =
          hvdx_rendezvous_start("127.0.0.1", 0, std::string(64, 'c').c_str(), "again and again");
    }
    while (board->port == 0) std::this_thread::yield();
    SetEnvironment(rank, board->port, tcp);
    for (int life = 0; life < kLives; ++life) OneLife(life);
    ++board->finished;
    while (rank == 0 && board->finished < kRanks) std::this_thread::yield();  // it is the store
  });
  ::munmap(shared, sizeof(Board));
}

TEST(ReinitTest, ManyLivesOverSharedMemory) { RunJob(false); }
TEST(ReinitTest, ManyLivesOverTcp) { RunJob(true); }

}  // namespace
}  // namespace horovodx

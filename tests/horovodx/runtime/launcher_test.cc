#include "horovodx/runtime/launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "horovodx/runtime/mpi_job.h"

namespace horovodx::runtime {
namespace {

using Environment = std::map<std::string, std::string>;

Launcher Find(const Environment& variables) {
  return FindLauncher([&](const char* name) {
    const auto it = variables.find(name);
    return it == variables.end() ? nullptr : it->second.c_str();
  });
}

TEST(LauncherTest, TellsWhoStartedTheProcess) {
  const struct {
    Environment variables;
    std::string told;  // empty: nobody
  } kTable[] = {
      {{}, ""},
      {{{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}},
       "OMPI_COMM_WORLD_RANK says rank 1 of 4"},
      {{{"OMPI_COMM_WORLD_RANK", "1"}}, ""},
      {{{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}, "PMI_RANK says rank 0 of 2"},
      {{{"PMI_RANK", "x"}, {"PMI_SIZE", "2"}}, ""},
      {{{"PMIX_RANK", "3"}}, "PMIX_RANK says rank 3"},
      {{{"PMIX_RANK", "3"}, {"SLURM_STEP_NUM_TASKS", "8"}}, "PMIX_RANK says rank 3 of 8"},
      {{{"SLURM_PROCID", "3"}, {"SLURM_STEP_NUM_TASKS", "8"}}, "SLURM_PROCID says rank 3 of 8"},
      // The script of a batch job runs once, whatever the job's tasks.
      {{{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}, ""},
  };
  for (const auto& row : kTable) {
    const Launcher found = Find(row.variables);
    EXPECT_EQ(found.found() ? found.ToString() : "", row.told);
  }
}

TEST(LauncherTest, KnowsWhatElseOpenMpiSays) {
  const Launcher found = Find({{"OMPI_COMM_WORLD_RANK", "0"},
                               {"OMPI_COMM_WORLD_SIZE", "2"},
                               {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"},
                               {"OPAL_PREFIX", "/opt/mpi"}});
  EXPECT_EQ(found.local_size, 1);
  EXPECT_EQ(LibraryFor(Config(), found).prefix, "/opt/mpi");
}

TEST(MeetsByMpiTest, WhoeverSaysHowRanksMeetIsBelieved) {
  const Launcher mpirun = Find({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}});
  Config config;
  EXPECT_FALSE(MeetsByMpi(config, Launcher(), {}).value());
  EXPECT_TRUE(MeetsByMpi(config, mpirun, {}).value());
  config.controller = "gloo";
  EXPECT_FALSE(MeetsByMpi(config, mpirun, {}).value());
  config.controller = "mpi";
  EXPECT_TRUE(MeetsByMpi(config, Launcher(), {}).value());
  // horovodrun inside an allocation of MPI.
  config.controller = "";
  config.given = {"HOROVOD_RANK"};
  EXPECT_FALSE(MeetsByMpi(config, mpirun, {}).value());
}

TEST(MeetsByMpiTest, ContradictionsAreNamed) {
  Config config;
  config.cpu_operations = "mpi";
  EXPECT_THAT(MeetsByMpi(config, Launcher(), {}).status().message(),
              testing::StartsWith("HOROVOD_CPU_OPERATIONS is 'mpi', but"));
  config.transport = "mpi";
  EXPECT_THAT(MeetsByMpi(config, Launcher(), {}).status().message(),
              testing::StartsWith("HOROVODX_TRANSPORT is 'mpi', but"));
  Invitation invitation;
  invitation.comms = {&config};
  EXPECT_TRUE(MeetsByMpi(config, Launcher(), invitation).value());
  config.tls = true;
  EXPECT_THAT(MeetsByMpi(config, Launcher(), invitation).status().message(),
              testing::HasSubstr("HOROVODX_TRANSPORT is 'mpi', but HOROVODX_TLS=1 asks"));
  config.tls = false;
  config.controller = "gloo";
  EXPECT_THAT(MeetsByMpi(config, Launcher(), invitation).status().message(),
              testing::HasSubstr("start the job with mpirun or horovodrun --mpi"));
}

}  // namespace
}  // namespace horovodx::runtime

#include "horovodx/runtime/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace horovodx::runtime {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

using Environment = std::map<std::string, std::string>;

std::vector<std::string> g_logged;
void Remember(LogLevel level, const std::string& line) {
  g_logged.push_back((level == LogLevel::kError ? "E " : "W ") + line);
}

class ConfigTest : public testing::Test {
 protected:
  void SetUp() override {
    g_logged.clear();
    SetLogSink(Remember);
  }
  void TearDown() override { SetLogSink(nullptr); }

  static Result<Config> Read(const Environment& environment) {
    return ReadConfig([&](const char* name) -> const char* {
      const auto it = environment.find(name);
      return it == environment.end() ? nullptr : it->second.c_str();
    });
  }
};

const char* const kSecret = "00ff102030405060708090a0b0c0d0e0f0112233445566778899aabbccddeeFF";

TEST_F(ConfigTest, AnEmptyEnvironmentIsOneProcessWithHorovodsDefaults) {
  const auto config = Read({});
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config.value().rank, 0);
  EXPECT_EQ(config.value().size, 1);
  EXPECT_EQ(config.value().fusion_threshold, 134217728u);
  EXPECT_EQ(config.value().cache_capacity, 1024u);
  EXPECT_FALSE(config.value().cycle_time_ms.has_value());
  EXPECT_EQ(config.value().stall_warning, Seconds(60));
  EXPECT_EQ(config.value().timeout, Seconds(30));
  EXPECT_TRUE(config.value().plans);
  EXPECT_EQ(config.value().schedule, "optimal");
  EXPECT_THAT(config.value().given, IsEmpty());
  EXPECT_THAT(g_logged, IsEmpty());
}

TEST_F(ConfigTest, EveryVariableReachesItsField) {
  auto read = Read({{"HOROVOD_RANK", "3"},
                    {"HOROVOD_SIZE", "8"},
                    {"HOROVOD_LOCAL_RANK", "1"},
                    {"HOROVOD_LOCAL_SIZE", "2"},
                    {"HOROVOD_CROSS_RANK", "1"},
                    {"HOROVOD_CROSS_SIZE", "4"},
                    {"HOROVOD_HOSTNAME", "node-7"},
                    {"HOROVODX_HOSTS", "node-7:2,fe80::1:1"},
                    {"HOROVOD_ELASTIC", "1"},
                    {"HOROVOD_GLOO_RENDEZVOUS_ADDR", "10.0.0.1"},
                    {"HOROVOD_GLOO_RENDEZVOUS_PORT", "4711"},
                    {"HOROVOD_GLOO_IFACE", "eth0"},
                    {"HOROVOD_GLOO_TIMEOUT_SECONDS", "2.5"},
                    {"HOROVOD_CONTROLLER", "Gloo"},
                    {"HOROVOD_CPU_OPERATIONS", "CCL"},
                    {"HOROVOD_MPI_THREADS_DISABLE", "1"},
                    {"HOROVODX_MPI_LIBRARY", "/opt/libmpi.so.40"},
                    {"HOROVODX_SECRET", kSecret},
                    {"HOROVODX_JOB_ID", "job 9"},
                    {"HOROVODX_TRANSPORT", "tcp"},
                    {"HOROVODX_STREAMS", "4"},
                    {"HOROVODX_TLS", "1"},
                    {"HOROVODX_TLS_LIBRARY", "/opt/libssl.so.3"},
                    {"HOROVODX_HEARTBEAT_SECONDS", "3"},
                    {"HOROVODX_SPIN_MICROSECONDS", "50"},
                    {"HOROVOD_FUSION_THRESHOLD", "0"},
                    {"HOROVOD_CYCLE_TIME", "3.5"},
                    {"HOROVOD_CACHE_CAPACITY", "0"},
                    {"HOROVOD_DISABLE_GROUP_FUSION", "1"},
                    {"HOROVOD_DYNAMIC_PROCESS_SETS", "1"},
                    {"HOROVOD_HIERARCHICAL_ALLREDUCE", "1"},
                    {"HOROVOD_HIERARCHICAL_ALLGATHER", "2"},
                    {"HOROVOD_TORUS_ALLREDUCE", "1"},
                    {"HOROVOD_ADASUM_MPI_CHUNK_SIZE", "4096"},
                    {"HOROVOD_THREAD_AFFINITY", "0,5"},
                    {"HOROVODX_SCHEDULE", "mgwfbp"},
                    {"HOROVODX_BUCKET_BYTES", "1000"},
                    {"HOROVODX_REPLAN", "0.5"},
                    {"HOROVODX_PLANS", "0"},
                    {"HOROVODX_ALLREDUCE", "ring:1M-max"},
                    {"HOROVODX_SELECTION", "rules"},
                    {"HOROVODX_SEGMENT", "1048576"},
                    {"HOROVODX_DETERMINISTIC", "1"},
                    {"HOROVOD_TIMELINE", "/tmp/t.json"},
                    {"HOROVOD_TIMELINE_MARK_CYCLES", "1"},
                    {"HOROVOD_STALL_CHECK_DISABLE", "1"},
                    {"HOROVOD_STALL_CHECK_TIME_SECONDS", "5"},
                    {"HOROVOD_STALL_SHUTDOWN_TIME_SECONDS", "7"},
                    {"HOROVOD_LOG_LEVEL", "DEBUG"},
                    {"HOROVOD_LOG_HIDE_TIME", "1"},
                    {"HOROVOD_AUTOTUNE", "1"},
                    {"HOROVOD_AUTOTUNE_LOG", "tune.csv"},
                    {"HOROVOD_AUTOTUNE_WARMUP_SAMPLES", "1"},
                    {"HOROVOD_AUTOTUNE_STEPS_PER_SAMPLE", "2"},
                    {"HOROVOD_AUTOTUNE_BAYES_OPT_MAX_SAMPLES", "4"},
                    {"HOROVOD_AUTOTUNE_GAUSSIAN_PROCESS_NOISE", "0.5"}});
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  const Config& c = *read;
  EXPECT_EQ(c.rank, 3);
  EXPECT_EQ(c.size, 8);
  EXPECT_EQ(c.local_rank, 1);
  EXPECT_EQ(c.local_size, 2);
  EXPECT_EQ(c.cross_rank, 1);
  EXPECT_EQ(c.cross_size, 4);
  EXPECT_EQ(c.hostname, "node-7");
  EXPECT_THAT(c.placed, ElementsAre("node-7", "node-7", "fe80::1"));
  EXPECT_TRUE(c.elastic);
  EXPECT_EQ(c.rendezvous_address, "10.0.0.1");
  EXPECT_EQ(c.rendezvous_port, 4711);
  EXPECT_EQ(c.interface, "eth0");
  EXPECT_EQ(c.timeout, Seconds(2.5));
  EXPECT_EQ(c.controller, "gloo");
  EXPECT_EQ(c.cpu_operations, "ccl");
  EXPECT_FALSE(c.mpi_threads);
  EXPECT_EQ(c.mpi_library, "/opt/libmpi.so.40");
  ASSERT_THAT(c.secret, SizeIs(32));
  EXPECT_EQ(c.secret.substr(0, 3), std::string("\x00\xff\x10", 3));
  EXPECT_EQ(c.secret.back(), '\xff');
  EXPECT_EQ(c.job_id, "job 9");
  EXPECT_EQ(c.transport, "tcp");
  EXPECT_EQ(c.streams, 4);
  EXPECT_TRUE(c.tls);
  EXPECT_EQ(c.tls_library, "/opt/libssl.so.3");
  EXPECT_EQ(c.heartbeat, Seconds(3));
  EXPECT_EQ(c.spin_microseconds, 50);
  EXPECT_EQ(c.fusion_threshold, 0u);
  EXPECT_EQ(c.cycle_time_ms, 3.5);
  EXPECT_EQ(c.cache_capacity, 0u);
  EXPECT_TRUE(c.disable_group_fusion);
  EXPECT_TRUE(c.dynamic_process_sets);
  EXPECT_TRUE(c.hierarchical_allreduce);
  EXPECT_TRUE(c.hierarchical_allgather);
  EXPECT_TRUE(c.torus_allreduce);
  EXPECT_EQ(c.adasum_chunk, 4096u);
  EXPECT_THAT(c.cores, ElementsAre(0, 5));
  EXPECT_EQ(c.schedule, "mgwfbp");
  EXPECT_EQ(c.bucket_bytes, 1000u);
  EXPECT_EQ(c.replan_share, 0.5);
  EXPECT_FALSE(c.plans);
  EXPECT_EQ(c.allreduce, "ring:1M-max");
  EXPECT_EQ(c.selection, "rules");
  EXPECT_EQ(c.segment, 1u << 20);
  EXPECT_TRUE(c.deterministic);
  EXPECT_EQ(c.timeline, "/tmp/t.json");
  EXPECT_TRUE(c.timeline_mark_cycles);
  EXPECT_FALSE(c.stall_check);
  EXPECT_EQ(c.stall_warning, Seconds(5));
  EXPECT_EQ(c.stall_shutdown, Seconds(7));
  EXPECT_EQ(c.log.level, LogLevel::kDebug);
  EXPECT_TRUE(c.log.hide_time);
  EXPECT_TRUE(c.autotune);
  EXPECT_EQ(c.autotune_log, "tune.csv");
  EXPECT_EQ(c.autotune_warmup_samples, 1);
  EXPECT_EQ(c.autotune_steps_per_sample, 2);
  EXPECT_EQ(c.autotune_max_samples, 4);
  EXPECT_EQ(c.autotune_noise, 0.5);
  EXPECT_EQ(c.given.size(), Describe().size()) << "a variable is missing from this test";
  EXPECT_THAT(g_logged, IsEmpty());
}

TEST_F(ConfigTest, RefusesWhatWouldMakeTheJobComeUpWrong) {
  struct Case {
    const char* name;
    const char* value;
    const char* expected;
  };
  const Case cases[] = {
      {"HOROVOD_RANK", "abc", "whole number from 0"},
      {"HOROVOD_RANK", "-1", "whole number from 0"},
      {"HOROVOD_RANK", "1x", "whole number from 0"},
      {"HOROVOD_RANK", "99999999999999999999", "whole number from 0"},
      {"HOROVOD_RANK", "2", "less than HOROVOD_SIZE, which is 2"},
      {"HOROVOD_SIZE", "-4", "whole number from 1"},
      {"HOROVOD_SIZE", "0", "whole number from 1"},
      {"HOROVOD_LOCAL_RANK", "2", "less than HOROVOD_LOCAL_SIZE, which is 2"},
      {"HOROVOD_LOCAL_SIZE", "3", "at most HOROVOD_SIZE, which is 2"},
      {"HOROVOD_CROSS_RANK", "1", "less than HOROVOD_CROSS_SIZE, which is 1"},
      {"HOROVOD_CROSS_SIZE", "9", "at most HOROVOD_SIZE, which is 2"},
      {"HOROVOD_HOSTNAME", "a\nb", "printable text"},
      {"HOROVOD_GLOO_RENDEZVOUS_PORT", "0", "from 1 to 65535"},
      {"HOROVOD_GLOO_RENDEZVOUS_PORT", "65536", "from 1 to 65535"},
      {"HOROVOD_GLOO_RENDEZVOUS_PORT", "http", "from 1 to 65535"},
      {"HOROVOD_CONTROLLER", "nccl", "only MPI and Gloo are supported"},
      {"HOROVOD_CPU_OPERATIONS", "cuda", "one of mpi, gloo, ccl"},
      {"HOROVOD_FUSION_THRESHOLD", "12x", "whole number from 0"},
      {"HOROVOD_FUSION_THRESHOLD", "-1", "whole number from 0"},
      {"HOROVODX_TRANSPORT", "udp", "one of auto, shm, tcp, mpi"},
      {"HOROVODX_STREAMS", "0", "from 1 to 64"},
      {"HOROVODX_TLS", "yes", "0 or 1"},
      {"HOROVODX_SCHEDULE", "best", "one of fusion, wfbp, buckets, mgwfbp, optimal"},
      {"HOROVODX_PLANS", "yes", "0 or 1"},
      {"HOROVODX_PLANS", "2", "0 or 1"},
      {"HOROVODX_DETERMINISTIC", "on", "0 or 1"},
      {"HOROVODX_HEARTBEAT_SECONDS", "0", "a positive number of seconds"},
      {"HOROVODX_HEARTBEAT_SECONDS", "nan", "a positive number of seconds"},
      {"HOROVODX_SPIN_MICROSECONDS", "1.5", "from 0 to 1000000"},
      {"HOROVODX_ALLREDUCE", "ring\x01", "printable text"},
      {"HOROVODX_SELECTION", "guess", "one of measured, rules"},
      {"HOROVODX_SEGMENT", "0", "a power of two from 65536 to 2097152"},
      {"HOROVODX_SEGMENT", "100000", "a power of two from 65536 to 2097152"},
      {"HOROVODX_SEGMENT", "4194304", "a power of two from 65536 to 2097152"},
  };
  for (const auto& c : cases) {
    Environment environment = {{"HOROVOD_RANK", "1"},
                               {"HOROVOD_SIZE", "2"},
                               {"HOROVOD_LOCAL_RANK", "0"},
                               {"HOROVOD_LOCAL_SIZE", "2"},
                               {"HOROVOD_CROSS_RANK", "0"},
                               {"HOROVOD_CROSS_SIZE", "1"},
                               {"HOROVOD_GLOO_RENDEZVOUS_ADDR", "127.0.0.1"},
                               {"HOROVOD_GLOO_RENDEZVOUS_PORT", "80"}};
    ASSERT_TRUE(Read(environment).ok());
    environment[c.name] = c.value;
    const auto config = Read(environment);
    ASSERT_FALSE(config.ok()) << c.name << "=" << c.value;
    EXPECT_EQ(config.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(config.status().message(),
                AllOf(HasSubstr(c.name), HasSubstr("'" + std::string(c.value) + "'"),
                      HasSubstr(c.expected)));
  }
  EXPECT_THAT(g_logged, IsEmpty());
}

TEST_F(ConfigTest, WarnsAboutTuningItCannotReadAndUsesTheDefault) {
  struct Case {
    const char* name;
    const char* value;
    const char* default_value;
  };
  const Case cases[] = {
      {"HOROVOD_CYCLE_TIME", "fast", "none"},
      {"HOROVOD_CYCLE_TIME", "-1", "none"},
      {"HOROVOD_CACHE_CAPACITY", "1k", "1024"},
      {"HOROVOD_AUTOTUNE", "true", "0"},
      {"HOROVOD_STALL_CHECK_DISABLE", "true", "0"},
      {"HOROVOD_STALL_CHECK_TIME_SECONDS", "inf", "60"},
      {"HOROVOD_GLOO_TIMEOUT_SECONDS", "0", "30"},
      {"HOROVOD_LOG_LEVEL", "loud", "warning"},
      {"HOROVOD_AUTOTUNE_GAUSSIAN_PROCESS_NOISE", "1,5", "0.8"},
  };
  for (const auto& c : cases) {
    g_logged.clear();
    const auto config = Read({{c.name, c.value}});
    ASSERT_TRUE(config.ok()) << c.name;
    EXPECT_THAT(config.value().given, IsEmpty());
    EXPECT_THAT(g_logged, ElementsAre(AllOf(HasSubstr("W "), HasSubstr(c.name),
                                            HasSubstr("'" + std::string(c.value) + "'"),
                                            HasSubstr("using " + std::string(c.default_value)))));
  }
}

TEST_F(ConfigTest, WarningsRespectTheLevelTheyComeWith) {
  ASSERT_TRUE(Read({{"HOROVOD_AUTOTUNE", "true"}, {"HOROVOD_LOG_LEVEL", "error"}}).ok());
  EXPECT_THAT(g_logged, IsEmpty());
}

TEST_F(ConfigTest, ABadSecretIsRefusedWithoutRepeatingIt) {
  for (const std::string& bad : {std::string(kSecret) + "00", std::string("c0ffee"),
                                 std::string(kSecret).replace(5, 1, "g")}) {
    const auto config = Read({{"HOROVODX_SECRET", bad}});
    ASSERT_FALSE(config.ok());
    EXPECT_THAT(config.status().message(),
                AllOf(HasSubstr("HOROVODX_SECRET is set, but not 64 hex"), Not(HasSubstr(bad))));
  }
}

TEST_F(ConfigTest, JobsWhoseProcessesCannotFindEachOtherAreRefused) {
  const auto no_rank = Read({{"HOROVOD_SIZE", "2"}});
  ASSERT_FALSE(no_rank.ok());
  EXPECT_THAT(no_rank.status().message(), HasSubstr("HOROVOD_RANK is not set"));
  const auto no_store = Read({{"HOROVOD_SIZE", "2"}, {"HOROVOD_RANK", "0"}});
  ASSERT_FALSE(no_store.ok());
  EXPECT_THAT(no_store.status().message(), HasSubstr("HOROVOD_GLOO_RENDEZVOUS_ADDR is not set"));
  const auto no_port = Read({{"HOROVOD_GLOO_RENDEZVOUS_ADDR", "10.0.0.1"}});
  ASSERT_FALSE(no_port.ok());
  EXPECT_THAT(no_port.status().message(), HasSubstr("HOROVOD_GLOO_RENDEZVOUS_PORT is not set"));
}

TEST_F(ConfigTest, BlankIsNotSetAndBlanksAroundAValueDoNotMatter) {
  const auto config = Read({{"HOROVOD_TIMELINE", ""},
                            {"HOROVOD_FUSION_THRESHOLD", "  "},
                            {"HOROVOD_CACHE_CAPACITY", " 7 "}});
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config.value().fusion_threshold, 134217728u);
  EXPECT_EQ(config.value().cache_capacity, 7u);
  EXPECT_THAT(config.value().given, ElementsAre("HOROVOD_CACHE_CAPACITY"));
}

TEST_F(ConfigTest, AShutdownTimeBelowTheWarningTimeIsIgnoredWithAWarning) {
  const auto config = Read({{"HOROVOD_STALL_SHUTDOWN_TIME_SECONDS", "10"}});
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config.value().stall_shutdown, Duration::zero());
  EXPECT_THAT(g_logged, ElementsAre(HasSubstr("HOROVOD_STALL_SHUTDOWN_TIME_SECONDS is less")));
}

TEST_F(ConfigTest, AffinityPinsByLocalRankOrNotAtAll) {
  const auto config = Read({{"HOROVOD_THREAD_AFFINITY", "4,6"}});
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(PinnedCore(config.value(), 1, 2), 6);
  EXPECT_THAT(g_logged, IsEmpty());
  EXPECT_EQ(PinnedCore(config.value(), 1, 3), std::nullopt);
  EXPECT_THAT(g_logged, ElementsAre(AllOf(HasSubstr("E "), HasSubstr("names 2 cores"))));
  g_logged.clear();
  const auto bad = Read({{"HOROVOD_THREAD_AFFINITY", "4,six"}});
  ASSERT_TRUE(bad.ok());
  EXPECT_EQ(PinnedCore(bad.value(), 0, 1), std::nullopt);
  EXPECT_THAT(g_logged, ElementsAre(AllOf(HasSubstr("E "), HasSubstr("HOROVOD_THREAD_AFFINITY"))));
}

TEST_F(ConfigTest, TheTableNamesEachVariableOnceWithAMeaning) {
  std::set<std::string> names;
  for (const auto& variable : Describe()) {
    EXPECT_TRUE(names.insert(variable.name).second) << variable.name << " appears twice";
    EXPECT_FALSE(variable.meaning.empty());
    EXPECT_FALSE(variable.default_value.empty());
  }
}

}  // namespace
}  // namespace horovodx::runtime

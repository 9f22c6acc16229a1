// The C ABI as an outsider sees it: one process alone, and everything a caller can get wrong.
#include "horovodx/api/c_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kSecret(64, 'a');

// Sets a variable for the life of the object.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

hvdx_submission Sum(const char* name, std::vector<float>& tensor, std::vector<int64_t>& shape) {
  shape = {static_cast<int64_t>(tensor.size())};
  hvdx_submission s{};
  s.struct_size = sizeof(s);
  s.kind = HVDX_ALLREDUCE;
  s.type = HVDX_FLOAT32;
  s.op = HVDX_SUM;
  s.device = -1;
  s.ndim = 1;
  s.shape = shape.data();
  s.name = name;
  s.input = tensor.data();
  s.output = tensor.data();
  return s;
}

bool Init() { return horovod_init(nullptr, 0, nullptr, nullptr, 0); }

TEST(CApiTest, EverythingBeforeInitSaysSo) {
  std::vector<float> x(3, 1.0f);
  std::vector<int64_t> shape;
  const hvdx_submission s = Sum("x", x, shape);
  EXPECT_EQ(hvdx_submit(&s), -HVDX_PRECONDITION);
  EXPECT_THAT(hvdx_last_error(), HasSubstr("Horovod has not been initialized; use hvd.init()."));
  EXPECT_EQ(hvdx_run(&s), HVDX_PRECONDITION);
  EXPECT_EQ(horovod_rank(), -1);
  EXPECT_EQ(horovod_is_initialized(), 0);
  EXPECT_EQ(horovod_add_process_set(nullptr, 0), HOROVOD_PROCESS_SET_ERROR_INIT);
  EXPECT_EQ(horovod_start_timeline("/dev/null", false), -1);
  horovod_shutdown();  // safe
}

TEST(CApiTest, InitAfterShutdownManyTimes) {
  for (int life = 0; life < 10; ++life) {
    ASSERT_TRUE(Init()) << hvdx_last_error();
    EXPECT_TRUE(Init());  // idempotent
    EXPECT_EQ(horovod_size(), 1);
    EXPECT_EQ(horovod_local_rank(), 0);
    EXPECT_EQ(horovod_cross_size(), 1);
    std::vector<float> x(3, 2.0f);
    std::vector<int64_t> shape;
    const hvdx_submission s = Sum("x", x, shape);
    EXPECT_EQ(hvdx_run(&s), HVDX_OK) << hvdx_last_error();
    EXPECT_THAT(x, ElementsAre(2, 2, 2));
    horovod_shutdown();
    EXPECT_EQ(horovod_is_initialized(), 0);
  }
}

TEST(CApiTest, FactorsCountOnlyWhenSaidSo) {
  ASSERT_TRUE(Init()) << hvdx_last_error();
  std::vector<float> x{1, 2};
  std::vector<int64_t> shape;
  hvdx_submission s = Sum("x", x, shape);
  s.postscale = 7;
  EXPECT_EQ(hvdx_run(&s), HVDX_OK) << hvdx_last_error();
  EXPECT_THAT(x, ElementsAre(1, 2));
  s.scaled = 1;
  s.prescale = 3;
  EXPECT_EQ(hvdx_run(&s), HVDX_OK) << hvdx_last_error();
  EXPECT_THAT(x, ElementsAre(21, 42));
  s.prescale = 0;
  EXPECT_EQ(hvdx_run(&s), HVDX_OK) << hvdx_last_error();
  EXPECT_THAT(x, ElementsAre(0, 0));
  horovod_shutdown();
}

TEST(CApiTest, RunForATimeLeavesAHandleToGoOnWith) {
  ASSERT_TRUE(Init()) << hvdx_last_error();
  std::vector<float> x{1, 2};
  std::vector<int64_t> shape;
  const hvdx_submission s = Sum("x", x, shape);
  hvdx_handle handle = 0;
  const int32_t status = hvdx_run_for(&s, 0, &handle);  // may or may not be done by then
  if (status == HVDX_TIMEOUT) {
    ASSERT_GT(handle, 0);
    EXPECT_EQ(hvdx_wait(handle, -1), HVDX_OK) << hvdx_last_error();
    hvdx_release(handle);
  } else {
    EXPECT_EQ(status, HVDX_OK) << hvdx_last_error();
    EXPECT_EQ(handle, 0);
  }
  EXPECT_EQ(hvdx_run_for(&s, 30, &handle), HVDX_OK) << hvdx_last_error();
  horovod_shutdown();
  EXPECT_EQ(hvdx_run_for(&s, 30, &handle), HVDX_PRECONDITION);
}

TEST(CApiTest, HandlesSlotsAndResultsKeptByTheEngine) {
  ASSERT_TRUE(Init()) << hvdx_last_error();
  std::vector<float> x{1, 2, 3, 4};
  std::vector<int64_t> shape;
  hvdx_submission s = Sum("x", x, shape);
  const hvdx_handle handle = hvdx_submit(&s);
  ASSERT_GT(handle, 0);
  EXPECT_EQ(hvdx_wait(handle, -1), HVDX_OK);
  EXPECT_EQ(hvdx_poll(handle), 1);
  hvdx_release(handle);
  EXPECT_LT(hvdx_poll(handle), 0);
  EXPECT_EQ(hvdx_wait(handle, 0), HVDX_INVALID_ARGUMENT);

  const int64_t slot = hvdx_register(&s);
  ASSERT_GE(slot, 0);
  std::vector<float> y(4, 5.0f);
  const hvdx_handle by_slot = hvdx_submit_slot(slot, y.data(), y.data());
  EXPECT_EQ(hvdx_wait(by_slot, -1), HVDX_OK);
  hvdx_release(by_slot);
  EXPECT_EQ(hvdx_submit_slot(slot + 1, nullptr, nullptr), -HVDX_INVALID_ARGUMENT);

  s.kind = HVDX_ALLGATHER;
  s.name = "gathered";
  const hvdx_handle gather = hvdx_submit(&s);
  ASSERT_EQ(hvdx_wait(gather, -1), HVDX_OK);
  ASSERT_EQ(hvdx_output_ndim(gather), 1);
  int64_t dimension = 0;
  hvdx_output_shape(gather, &dimension);
  ASSERT_EQ(dimension, 4);
  EXPECT_EQ(static_cast<const float*>(hvdx_output(gather))[3], 4.0f);
  hvdx_release(gather);
  horovod_shutdown();
}

TEST(CApiTest, BadSubmissionsAreRefusedWithAReason) {
  ASSERT_TRUE(Init()) << hvdx_last_error();
  std::vector<float> x(3, 1.0f);
  std::vector<int64_t> shape;
  const hvdx_submission good = Sum("x", x, shape);
  auto refuse = [](hvdx_submission s) {
    EXPECT_EQ(hvdx_submit(&s), -HVDX_INVALID_ARGUMENT);
    return std::string(hvdx_last_error());
  };
  hvdx_submission s = good;
  s.struct_size = 4;
  EXPECT_THAT(refuse(s), HasSubstr("struct_size is 4"));
  s = good;
  s.kind = 77;
  EXPECT_THAT(refuse(s), HasSubstr("kind is 77"));
  s = good;
  s.type = 11;
  EXPECT_THAT(refuse(s), HasSubstr("type is 11"));
  s = good;
  s.op = -1;
  EXPECT_THAT(refuse(s), HasSubstr("op is -1"));
  s = good;
  s.name = "";
  EXPECT_THAT(refuse(s), HasSubstr("needs a name"));
  s = good;
  s.input = nullptr;
  EXPECT_THAT(refuse(s), HasSubstr("no input memory"));
  s = good;
  s.device = 0;
  EXPECT_THAT(refuse(s), HasSubstr("CPU memory only"));
  s = good;
  s.process_set = 4;
  EXPECT_THAT(refuse(s), HasSubstr("Process set provided does not exist"));
  s = good;
  s.kind = HVDX_BROADCAST;
  s.root = 3;
  EXPECT_THAT(refuse(s), HasSubstr("invalid root rank 3"));
  s = good;
  int64_t negative = -1;
  s.shape = &negative;
  EXPECT_THAT(refuse(s), HasSubstr("negative"));
  EXPECT_EQ(hvdx_submit(nullptr), -HVDX_INVALID_ARGUMENT);
  EXPECT_EQ(horovod_add_process_set(nullptr, 0), HOROVOD_PROCESS_SET_ERROR_DYNAMIC);
  EXPECT_EQ(horovod_start_timeline("/dev/null", false), -2);
  EXPECT_EQ(hvdx_counter("no such counter"), -1);
  horovod_shutdown();
}

TEST(CApiTest, TheWorldGivenAsASetIsNotRegisteredAgain) {
  const int ranks[] = {0, 0};
  const int sizes[] = {1, 1};
  ASSERT_TRUE(horovod_init(nullptr, 0, ranks, sizes, 2)) << hvdx_last_error();
  EXPECT_EQ(horovod_number_of_process_sets(), 1);
  int id = -1;
  horovod_process_set_ids(&id);
  EXPECT_EQ(id, 0);
  horovod_shutdown();
}

TEST(CApiTest, MalformedSettingsFailInitWithNameValueAndExpectation) {
  {
    const Variable rank("HOROVOD_RANK", "abc");
    EXPECT_FALSE(Init());
    EXPECT_THAT(hvdx_last_error(), HasSubstr("HOROVOD_RANK"));
    EXPECT_THAT(hvdx_last_error(), HasSubstr("abc"));
  }
  {
    const Variable rank("HOROVOD_RANK", "0");
    const Variable size("HOROVOD_SIZE", "2");
    EXPECT_FALSE(Init());
    EXPECT_THAT(hvdx_last_error(), HasSubstr("HOROVOD_GLOO_RENDEZVOUS_ADDR"));
    const Variable address("HOROVOD_GLOO_RENDEZVOUS_ADDR", "127.0.0.1");
    const Variable port("HOROVOD_GLOO_RENDEZVOUS_PORT", "1");
    EXPECT_FALSE(Init());
    EXPECT_THAT(hvdx_last_error(), HasSubstr("HOROVODX_SECRET"));
  }
  {
    const Variable rules("HOROVODX_ALLREDUCE", "quantum:0-max");
    EXPECT_FALSE(Init());
    EXPECT_THAT(hvdx_last_error(), HasSubstr("quantum"));
  }
  EXPECT_TRUE(Init()) << hvdx_last_error();  // and nothing of it sticks
  horovod_shutdown();
}

TEST(CApiTest, WrongSecretAndPortInUseAreToldApart) {
  const int32_t port = hvdx_rendezvous_start("127.0.0.1", 0, kSecret.c_str(), "job");
  ASSERT_GT(port, 0) << hvdx_last_error();
  EXPECT_LT(hvdx_rendezvous_start("127.0.0.1", 0, kSecret.c_str(), "job"), 0);  // runs already
  {
    const Variable rank("HOROVOD_RANK", "0");
    const Variable size("HOROVOD_SIZE", "2");
    const Variable address("HOROVOD_GLOO_RENDEZVOUS_ADDR", "127.0.0.1");
    const Variable where("HOROVOD_GLOO_RENDEZVOUS_PORT", std::to_string(port));
    const Variable job("HOROVODX_JOB_ID", "job");
    const Variable secret("HOROVODX_SECRET", std::string(64, 'b'));
    EXPECT_FALSE(Init());
    EXPECT_THAT(hvdx_last_error(), HasSubstr("secret"));
  }
  hvdx_rendezvous_stop();
  EXPECT_LT(hvdx_rendezvous_start("127.0.0.1", 0, "short", "job"), 0);
  EXPECT_THAT(hvdx_last_error(), HasSubstr("64 hexadecimal digits"));
  EXPECT_LT(hvdx_rendezvous_start("256.0.0.1", 0, kSecret.c_str(), "job"), 0);
  EXPECT_THAT(hvdx_last_error(), HasSubstr("256.0.0.1"));
}

}  // namespace

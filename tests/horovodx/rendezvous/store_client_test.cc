#include "horovodx/rendezvous/store_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "horovodx/rendezvous/store_protocol.h"
#include "horovodx/rendezvous/store_server.h"

namespace horovodx::rendezvous {
namespace {

using testing::HasSubstr;

const Credentials kOurs{"a secret", "job"};

Deadline Soon() { return Deadline::After(Seconds(30)); }

struct World {
  std::unique_ptr<StoreServer> server =
      std::move(StoreServer::Start("127.0.0.1", 0, kOurs.secret, kOurs.job_id)).value();
  std::unique_ptr<StoreClient> client =
      std::move(StoreClient::Connect(server->address(), kOurs, 0, Soon())).value();
};

TEST(StoreClientTest, OneThreadsWaitDoesNotBlockAnothersSet) {
  World world;
  std::thread setter;
  std::thread getter([&] { EXPECT_EQ(*world.client->Get("key", Soon()), "value"); });
  setter = std::thread([&] { EXPECT_TRUE(world.client->Set("key", "value").ok()); });
  getter.join();
  setter.join();
}

TEST(StoreClientTest, MissingKeyIsNamedAtTheDeadlineAndTheClientGoesOn) {
  World world;
  EXPECT_EQ(world.client->Get("nobody's", Deadline::After(Seconds(0.02))).status().message(),
            "rendezvous: nobody has set 'nobody's' within the time limit");
  ASSERT_TRUE(world.client->Set("key", "value").ok());
  EXPECT_EQ(*world.client->Get("key", Deadline::After(Seconds(0))), "value")
      << "what is there is found without waiting";
}

TEST(StoreClientTest, WaitingClientNoticesADeadServer) {
  World world;
  const auto address = world.server->address().ToString();
  // Whether the Get is still on its way or parked when the server goes, it ends with an error.
  std::thread killer([&] {
    ASSERT_TRUE(world.client->Set("alive", "yes").ok());
    world.server.reset();
  });
  const Status status = world.client->Get("never", Deadline::After(Seconds(3600))).status();
  killer.join();
  EXPECT_THAT(status.message(), HasSubstr(address));
  EXPECT_FALSE(world.client->Set("key", "value").ok());
  // Also one that has to connect anew knows the difference to a key that nobody has set.
  EXPECT_EQ(world.client->Get("key", Deadline::After(Seconds(0))).status().code(),
            StatusCode::kAborted);
}

TEST(StoreClientTest, TooLongKeysAndValuesAreTheCallersMistake) {
  World world;
  const Status key = world.client->Set(std::string(kMostKeyBytes + 1, 'k'), "");
  EXPECT_EQ(key.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(key.message(), HasSubstr("has 1025 bytes; at most 1024"));
  const Status value = world.client->Set("key", std::string(kMostValueBytes + 1, 'v'));
  EXPECT_THAT(value.message(), HasSubstr("the value of 'key' has 1048577 bytes"));
  EXPECT_FALSE(world.client->Get(std::string(kMostKeyBytes + 1, 'k'), Soon()).ok());
}

TEST(StoreClientTest, NobodyThereIsAnErrorThatNamesTheServer) {
  Address nobody;
  {
    World world;
    nobody = world.server->address();
  }
  const auto client = StoreClient::Connect(nobody, kOurs, 0, Deadline::After(Seconds(0.3)));
  EXPECT_THAT(client.status().message(), HasSubstr(nobody.ToString()));
}

}  // namespace
}  // namespace horovodx::rendezvous

// What an engine says when several things break at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "horovodx/runtime/engine.h"
#include "horovodx/transport/loopback/world.h"
#include "tests/support/engine_world.h"

namespace horovodx::runtime {
namespace {

using testing::HasSubstr;
using testing_support::Allreduce;
using testing_support::SubmitAndWait;
using transport::loopback::World;

// What goes wrong with a rank, once it is told to.
struct Fault {
  std::atomic<bool> armed{false};  // its links break while they are read
  std::atomic<bool> mute{false};   // its control messages do not leave
  std::function<void()> then;      // just before
};

class FaultyLink : public transport::InLink {
 public:
  FaultyLink(transport::InLink& inner, Fault& fault) : inner_(inner), fault_(fault) {}
  Result<std::size_t> TryRead(std::span<const MutableBytes> pieces) override {
    if (!fault_.armed) return inner_.TryRead(pieces);
    fault_.then();
    return Status::Unknown("tcp: lost " + inner_.Describe());
  }
  bool Readable() override { return fault_.armed || inner_.Readable(); }
  int fd() override { return inner_.fd(); }
  std::string Describe() const override { return inner_.Describe(); }

 private:
  transport::InLink& inner_;
  Fault& fault_;
};

class FaultyMesh : public transport::Mesh {
 public:
  FaultyMesh(std::unique_ptr<Mesh> inner, Fault& fault)
      : Mesh(inner->rank(), inner->hosts(), inner->bell(), nullptr), inner_(std::move(inner)) {
    for (int member = 0; member < size(); ++member) {
      links_.push_back(member == rank() ? nullptr
                                        : std::make_unique<FaultyLink>(inner_->In(member), fault));
    }
  }
  transport::OutLink& Out(int member) override { return inner_->Out(member); }
  transport::InLink& In(int member) override { return *links_[member]; }

 private:
  std::unique_ptr<Mesh> inner_;
  std::vector<std::unique_ptr<FaultyLink>> links_;
};

class FaultyCourier : public transport::Courier {
 public:
  FaultyCourier(Courier& inner, Fault& fault) : inner_(inner), fault_(fault) {}
  void Send(int to, std::vector<std::byte> message) override {
    if (fault_.mute) return fault_.then();
    inner_.Send(to, std::move(message));
  }
  std::vector<transport::Delivery> Receive() override { return inner_.Receive(); }
  bool HasMail() const override { return inner_.HasMail(); }
  void ExpectGoodbyes() override { inner_.ExpectGoodbyes(); }
  void Flush(double seconds) override { inner_.Flush(seconds); }

 private:
  Courier& inner_;
  Fault& fault_;
};

class FaultyFabric : public transport::Fabric {
 public:
  FaultyFabric(std::unique_ptr<Fabric> inner, Fault& fault)
      : inner_(std::move(inner)), courier_(inner_->courier(), fault), fault_(fault) {}
  int rank() const override { return inner_->rank(); }
  const topology::HostMap& hosts() const override { return inner_->hosts(); }
  Bell bell() const override { return inner_->bell(); }
  transport::Courier& courier() override { return courier_; }
  Result<std::unique_ptr<transport::Mesh>> MakeMesh(std::uint32_t channel,
                                                    const std::vector<int>& members,
                                                    const Deadline& deadline) override {
    HVDX_ASSIGN_OR_RETURN(auto mesh, inner_->MakeMesh(channel, members, deadline));
    return std::unique_ptr<transport::Mesh>(std::make_unique<FaultyMesh>(std::move(mesh), fault_));
  }

 private:
  std::unique_ptr<Fabric> inner_;
  FaultyCourier courier_;
  Fault& fault_;
};

// Three ranks; rank 2's links break during an allreduce. What rank 2 says; `meanwhile` is called
// once it had time to speak.
std::string WhenLinksBreak(const EngineOptions& options,
                           const std::function<void(World&)>& meanwhile) {
  World world(topology::HostMap::OneHost(3), {.stages = false});
  Fault fault[3];
  std::atomic<bool> broke{false}, spoken{false};
  fault[2].then = [&] { broke = true; };
  std::string said;
  const auto run = [&](int rank) {
    auto engine =
        Engine::Start(std::make_unique<FaultyFabric>(world.Join(rank), fault[rank]), options);
    ASSERT_TRUE(engine.ok()) << engine.status().ToString();
    std::vector<float> x(1000, 1.0f);
    ASSERT_TRUE(SubmitAndWait(**engine, Allreduce("before", x)).ok());
    fault[rank].armed = rank == 2;
    auto operation = (*engine)->Submit(Allreduce("x", x));
    ASSERT_TRUE(operation.ok()) << operation.status().ToString();
    if (rank == 2) {
      const auto deadline = Deadline::After(Seconds(60));
      while (!broke && !deadline.Passed()) std::this_thread::yield();
      (*engine)->Wait(*operation, Deadline::After(Seconds(0.05)));
      meanwhile(world);
    }
    EXPECT_TRUE((*engine)->Wait(*operation, Deadline::After(Seconds(60))));
    if (rank == 2) {
      said = (*operation)->status.message();
      spoken = true;
    }
    // The others may have had all they need; their leaving would be news, too.
    const auto deadline = Deadline::After(Seconds(60));
    while (!spoken && !deadline.Passed()) std::this_thread::yield();
    (*engine)->Shutdown();
  };
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 3; ++rank) ranks.emplace_back(run, rank);
  for (auto& rank : ranks) rank.join();
  return said;
}

TEST(EngineFailureTest, WhoDiedIsNamedBeforeWhoLeftBecauseOfIt) {
  // Rank 0 has died and rank 1 has gone because of that; rank 2 sees the end of its links first.
  EngineOptions options;
  options.wait_for_news = std::chrono::seconds(60);
  const std::string said = WhenLinksBreak(options, [](World& world) {
    world.Kill(0);
    world.Kill(1);  // for rank 0, which lives on here
  });
  EXPECT_THAT(said, HasSubstr("rank 0 (same process): killed"));
}

TEST(EngineFailureTest, ALinkThatBreaksWithoutOtherNewsIsNamed) {
  EXPECT_THAT(WhenLinksBreak({}, [](World&) {}), HasSubstr("tcp: lost rank "));
}

TEST(EngineFailureTest, ARankThatIsLostDuringShutdownIsAFailureForTheOthers) {
  // Rank 1 hears that all are to end, and nothing more comes from it.
  World world(topology::HostMap::OneHost(2), {.stages = false});
  Fault fault[2];
  fault[1].then = [&] { world.Kill(1); };
  EngineOptions options;
  options.shutdown_limit = std::chrono::seconds(1);
  const auto run = [&](int rank) {
    auto engine =
        Engine::Start(std::make_unique<FaultyFabric>(world.Join(rank), fault[rank]), options);
    ASSERT_TRUE(engine.ok()) << engine.status().ToString();
    std::vector<float> x(10, 1.0f);
    ASSERT_TRUE(SubmitAndWait(**engine, Allreduce("x", x)).ok());
    fault[1].mute = true;
    if (rank == 0) (*engine)->Shutdown();
    const auto deadline = Deadline::After(Seconds(60));
    while (!(*engine)->stopped() && !deadline.Passed()) std::this_thread::yield();
    EXPECT_TRUE((*engine)->failed() || rank == 1);
  };
  std::thread other(run, 1);
  run(0);
  other.join();
}

}  // namespace
}  // namespace horovodx::runtime
